import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

@Suite("A vault with a passphrase")
struct PassphraseTests {
    private static let right = Secret("correct horse battery staple")

    /// A vault with one refresh token, whose key comes from a passphrase.
    private func make(_ bed: VaultBed) async throws {
        try await bed.use { vault in
            try await vault.store(Sample.refreshToken(), secret: "r")
            try await vault.setKeySource("passphrase", passphrase: Self.right, at: 1_800_000_000)
        }
    }

    @Test("a vault with a passphrase starts locked, and the passphrase opens it")
    func startsLocked() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            try await bed.use { vault in
                #expect(vault.isLocked)
                #expect(try vault.statistics().records == 1)
                let error = try await vaultError { _ = try vault.loadAll(RefreshTokenRecord.self, in: Sample.me) }
                #expect(error == .locked)
                try await vault.unlock(passphrase: Self.right)
                let stored = try #require(vault.loadAll(RefreshTokenRecord.self, in: Sample.me).first)
                #expect(try vault.secret(of: stored.sealed).revealed() == "r")
            }
        }
    }

    @Test("a cancelled unlock does not derive the key")
    func gone() async throws {
        let error = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await vaultError {
                _ = try await PassphraseSource().makeKey(for: [], passphrase: Self.right, .asked)
            }
        }.result
        guard case .io(let text) = try error.get() else {
            Issue.record("\(error)")
            return
        }
        #expect(text.contains("was cancelled"))
    }

    @Test("a wrong or missing passphrase leaves the vault locked and unchanged")
    func wrong() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            let before = try bed.bytes("vault.db")
            try await bed.use { vault in
                let wrong = Secret("incorrect horse battery staple")
                let refused = try await vaultError { try await vault.unlock(passphrase: wrong) }
                #expect(refused == .wrongPassphrase)
                let waiting = try await vaultError { try await vault.unlock(passphrase: nil) }
                #expect(waiting.map { "\($0)" }?.contains("brokerctl unlock") == true)
                #expect(vault.isLocked)
            }
            #expect(try bed.bytes("vault.db") == before)
        }
    }

    @Test("a vault with a passphrase has no key file")
    func noKeyFile() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            #expect(try bed.contents().keys.sorted() == ["vault.db", "vault.lock"])
        }
    }

    @Test("after a change of passphrase the first one opens nothing")
    func changed() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            let next = Secret("quite another sentence")
            try await bed.use { vault in
                try await vault.unlock(passphrase: Self.right)
                try await vault.setKeySource("passphrase", passphrase: next, at: 1_800_000_001)
            }
            try await bed.use { vault in
                let refused = try await vaultError { try await vault.unlock(passphrase: Self.right) }
                #expect(refused == .wrongPassphrase)
                try await vault.unlock(passphrase: next)
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            }
        }
    }

    @Test("a short passphrase is refused, and the vault stays as it is")
    func short() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let error = try await vaultError {
                    try await vault.setKeySource("passphrase", passphrase: Secret("short"), at: 0)
                }
                #expect(error?.text(of: VaultError.unsuitable) != nil)
                #expect(try vault.statistics().keySource == "key-file")
            }
            #expect(try bed.contents().keys.contains("vault.key"))
        }
    }

    @Test(
        "excessive memory costs in the file are reported as damage, without allocating",
        arguments: [
            // Version, passes, memory, length of the salt, salt: 2 GiB, and more than the unit can spare (256 MiB).
            "01" + "03000000" + "00000080" + "10000000" + String(repeating: "aa", count: 16),
            "01" + "03000000" + "00000010" + "10000000" + String(repeating: "aa", count: 16),
            "01" + "ff000000" + "00000004" + "10000000" + String(repeating: "aa", count: 16),
            "01" + "01000000" + "00000004" + "10000000" + String(repeating: "aa", count: 16),
            "02" + "03000000" + "00000004" + "10000000" + String(repeating: "aa", count: 16), "", "01",
        ])
    func costs(parameters: String) async throws {
        try await withVaultBed { bed in
            try await make(bed)
            try edit(
                bed.file("vault.db"), "UPDATE header SET value = x'\(parameters)' WHERE name = 'key-parameters'")
            let error = try await vaultError { _ = try await bed.open() }
            #expect(error?.text(of: VaultError.damaged) != nil)
        }
    }

    @Test("a broker without a passphrase cannot make a vault with this source")
    func newVault() async throws {
        try await withVaultBed { bed in
            let error = try await vaultError { _ = try await bed.open(keySource: PassphraseSource()) }
            let text = try #require(error?.text(of: VaultError.keyUnavailable))
            #expect(text.contains("set-source passphrase"))
            #expect(try bed.contents().keys.sorted() == ["vault.lock"])
        }
    }
}
