import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("A vault with a recovery passphrase in addition to its key")
struct AddedSourceTests {
    private static let recovery = Secret("a long sentence for bad days")

    /// A vault with one refresh token and a key file, which a passphrase opens as well.
    private func make(_ bed: VaultBed) async throws {
        try await bed.use { vault in
            try await vault.store(Sample.refreshToken(), secret: "r")
            try await vault.addKeySource("passphrase", passphrase: Self.recovery)
            #expect(await vault.keyStatus().added == ["passphrase"])
        }
    }

    private func expectContent(_ vault: Vault) throws {
        let stored = try #require(vault.loadAll(RefreshTokenRecord.self, in: Sample.me).first)
        #expect(try vault.secret(of: stored.sealed).revealed() == "r")
    }

    /// As on another machine.
    private func loseKey(_ bed: VaultBed) throws { try FileManager.default.removeItem(at: bed.file("vault.key")) }

    @Test("while the key exists, the vault opens without the recovery passphrase")
    func usual() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            try await bed.use { vault in
                #expect(!vault.isLocked)
                try expectContent(vault)
            }
        }
    }

    @Test("without its key the vault starts locked, names the passphrase, and opens with it alone")
    func recovered() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            try loseKey(bed)
            try await bed.use { vault in
                #expect(vault.isLocked && bed.log.text.contains("recovery passphrase"))
                let wrong = try await vaultError { try await vault.unlock(passphrase: Secret("something else")) }
                #expect(wrong == .wrongPassphrase)
                let none = try await vaultError { try await vault.unlock(passphrase: nil) }
                #expect(none.map { "\($0)" }?.contains("brokerctl unlock") == true)
                try await vault.unlock(passphrase: Self.recovery)
                try expectContent(vault)
                // The machine gets its own key, and then the passphrase opens the vault again.
                try await vault.setKeySource("key-file", passphrase: nil, at: 9)
                #expect(await vault.keyStatus().added.isEmpty)
                try await vault.addKeySource("passphrase", passphrase: Self.recovery)
            }
            try await bed.use { vault in
                #expect(!vault.isLocked)
                try expectContent(vault)
            }
            try loseKey(bed)
            try await bed.use { vault in
                try await vault.unlock(passphrase: Self.recovery)
                try expectContent(vault)
            }
        }
    }

    @Test("a new recovery passphrase replaces the previous one, and after its removal none opens the vault")
    func replaced() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            let next = Secret("another sentence for bad days")
            try await bed.use { vault in
                try await vault.addKeySource("passphrase", passphrase: next)
                #expect(await vault.keyStatus().added == ["passphrase"])
                // It gets other data keys, and the same sources open it.
                try await vault.replaceDataKeys(at: 9)
            }
            let key = try bed.bytes("vault.key")
            try loseKey(bed)
            try await bed.use { vault in
                let former = try await vaultError { try await vault.unlock(passphrase: Self.recovery) }
                #expect(former == .wrongPassphrase)
                try await vault.unlock(passphrase: next)
                try expectContent(vault)
                try await vault.removeKeySource("passphrase")
                #expect(await vault.keyStatus().added.isEmpty)
                let again = try await vaultError { try await vault.removeKeySource("passphrase") }
                #expect(again.map { "\($0)" }?.contains("brokerctl key status") == true)
            }
            #expect(try await vaultError { try await bed.use { _ in } }?.text(of: VaultError.keyUnavailable) != nil)
            try key.write(to: bed.file("vault.key"))
            #expect(chmod(bed.file("vault.key").path, 0o600) == 0)
            try await bed.use { try expectContent($0) }
        }
    }

    @Test("a vault with a passphrase opens with either, and its own source cannot be added")
    func twoPassphrases() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            let daily = Secret("for every day of the week")
            try await bed.use { vault in
                let same = try await vaultError { try await vault.addKeySource("key-file", passphrase: nil) }
                #expect(same.map { "\($0)" }?.contains("already") == true)
                try await vault.setKeySource("passphrase", passphrase: daily, at: 9)
                try await vault.addKeySource("passphrase", passphrase: Self.recovery)
            }
            for passphrase in [daily, Self.recovery] {
                try await bed.use { vault in
                    #expect(vault.isLocked)
                    try await vault.unlock(passphrase: passphrase)
                    try expectContent(vault)
                }
            }
        }
    }

    @Test("replacing the key invalidates added sources: an earlier row put back opens nothing")
    func ended() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            func row() throws -> String {
                try query(bed.file("vault.db"), "SELECT hex(value) FROM header WHERE name = 'added-key:passphrase'")
                    .first?.first ?? ""
            }
            let (earlier, key) = (try row(), try bed.bytes("vault.key"))
            #expect(!earlier.isEmpty)
            let daily = Secret("for every day of the week")
            try await bed.use { vault in
                try await vault.setKeySource("passphrase", passphrase: daily, at: 9)
                try await vault.replaceDataKeys(at: 9)
            }
            #expect(try row().isEmpty)
            try edit(
                bed.file("vault.db"),
                "INSERT INTO header (name, value) VALUES ('added-key:passphrase', x'\(earlier)')")
            try key.write(to: bed.file("vault.key"))
            #expect(chmod(bed.file("vault.key").path, 0o600) == 0)
            try await bed.use { vault in
                let former = try await vaultError { try await vault.unlock(passphrase: Self.recovery) }
                #expect(former == .wrongPassphrase)
                try await vault.unlock(passphrase: daily)
                try expectContent(vault)
            }
        }
    }

    @Test("an added source's key is discarded when the vault gets another key")
    func discarded() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.refreshToken(), secret: "r")
                try await vault.setKeySource("passphrase", passphrase: Self.recovery, at: 9)
                #expect(access(bed.file("vault.key").path, F_OK) != 0)
                try await vault.addKeySource("key-file", passphrase: nil)
                #expect(access(bed.file("vault.key").path, F_OK) == 0)
                try await vault.setKeySource("passphrase", passphrase: Secret("another sentence"), at: 9)
                #expect(access(bed.file("vault.key").path, F_OK) != 0)
                try expectContent(vault)
            }
        }
    }

    @Test("a forged added source opens nothing, and the vault's key still works")
    func forged() async throws {
        try await withVaultBed { bed in
            try await make(bed)
            try edit(bed.file("vault.db"), "UPDATE header SET value = x'00' WHERE name LIKE 'added-key:%'")
            try await bed.use { vault in
                try expectContent(vault)
                #expect(await vault.keyStatus().added.isEmpty)
            }
        }
    }
}
