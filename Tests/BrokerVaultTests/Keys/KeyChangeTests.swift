import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("Changing the keys of a vault")
struct KeyChangeTests {
    private static let count = 300

    private func fill(_ vault: Vault) async throws {
        for number in 0..<Self.count {
            try await vault.store(Sample.refreshToken("client-\(number)"), secret: "secret-\(number)")
        }
        try await vault.store(Sample.refreshToken("elsewhere"), secret: "other", in: Sample.other)
    }

    private func check(_ vault: Vault) throws {
        var found: Set<String> = []
        for stored in try vault.loadAll(RefreshTokenRecord.self, in: Sample.me) {
            found.insert(try vault.secret(of: stored.sealed).revealed())
        }
        #expect(found == Set((0..<Self.count).map { "secret-\($0)" }))
        #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.other).count == 1)
        #expect(try vault.statistics().quarantined == 0)
    }

    private func boxes(_ bed: VaultBed) throws -> [String] {
        try query(bed.file("vault.db"), "SELECT hex(box) FROM record ORDER BY id").map { $0[0] }
    }

    private func wrapped(_ bed: VaultBed) throws -> [String] {
        try query(bed.file("vault.db"), "SELECT hex(wrapped) FROM partition_key ORDER BY partition").map { $0[0] }
    }

    private func settled(_ vault: Vault) async throws {
        try await eventually("all records are sealed anew") { await !vault.keyStatus().isResealing }
    }

    @Test("another source wraps the same data keys: no record is written")
    func setSource() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in try await fill(vault) }
            let (boxes, wrapped) = (try boxes(bed), try wrapped(bed))
            try await bed.use { vault in
                try await vault.setKeySource("passphrase", passphrase: Secret("a long sentence"), at: 9)
                try check(vault)
                #expect(await vault.keyStatus().wrappedOn == 9)
            }
            #expect(try self.boxes(bed) == boxes)
            #expect(Set(try self.wrapped(bed)).isDisjoint(with: wrapped))
            // Nothing of what the key file wrapped is left in the file.
            let file = try bed.bytes("vault.db")
            for old in wrapped {
                let bytes = try #require(Data(hex: old))
                #expect(file.range(of: bytes) == nil)
            }
        }
    }

    @Test("a new data key: every record is sealed anew, and everything can be read all the time")
    func rotate() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in try await fill(vault) }
            let before = try boxes(bed)
            try await bed.use { vault in
                let held = try #require(vault.loadAll(RefreshTokenRecord.self, in: Sample.me).first)
                try await vault.replaceDataKeys(at: 10)
                try check(vault)
                try await settled(vault)
                try check(vault)
                // What memory still holds as it was before opens, and is written with the new key.
                #expect(try vault.secret(of: held.sealed).revealed().hasPrefix("secret-"))
                try await vault.commit(VaultChange(in: Sample.me, puts: [held.sealed]))
            }
            #expect(Set(try boxes(bed)).isDisjoint(with: before))
            try await bed.use { vault in
                try await settled(vault)
                try check(vault)
                // A second time, because then the first key is no special case any more.
                try await vault.replaceDataKeys(at: 11)
                try await settled(vault)
            }
            try await bed.use { vault in try check(vault) }
        }
    }

    @Test("the key before opens nothing of the vault any more")
    func formerKey() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in try await fill(vault) }
            let old = try wrapped(bed)
            try await bed.use { vault in
                try await vault.replaceDataKeys(at: 10)
                try await settled(vault)
            }
            // Somebody puts the wrapped former key back.
            try edit(
                bed.file("vault.db"),
                "UPDATE partition_key SET wrapped = x'\(old[0])' WHERE partition = \(Sample.me.uid)")
            try await bed.use { vault throws in
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).isEmpty)
            }
        }
    }

    @Test("a lock in the middle stops it, and unlocking goes on with it")
    func lockedMeanwhile() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await fill(vault)
                try await vault.replaceDataKeys(at: 10)
                vault.lock()
                try await settled(vault)
                #expect(vault.isLocked)
                try await vault.unlock(passphrase: nil)
                try await settled(vault)
                try check(vault)
            }
            #expect(try wrapped(bed).allSatisfy { $0.count == 2 * (64 + 40) }, "one key is left, and the names'")
        }
    }

    @Test("a partition that is new while its key is not on disk yet survives lock and change of the source")
    func unsavedPartition() async throws {
        try await withVaultBed { bed in
            let passphrase = Secret("a long sentence")
            try await bed.use { vault in
                let stored = try vault.seal(Sample.refreshToken(), secret: Secret("r"), in: Sample.me)
                vault.lock()
                // It waited for the disk. The row needs no key any more, but the list of rows does.
                let change = VaultChange(in: Sample.me, puts: [stored.sealed])
                #expect(try await vaultError { try await vault.commit(change) } == .locked)
                try await vault.unlock(passphrase: nil)
                try await vault.commit(change)
                let second = try vault.seal(Sample.refreshToken(), secret: Secret("s"), in: Sample.other)
                try await vault.setKeySource("passphrase", passphrase: passphrase, at: 1)
                try await vault.commit(VaultChange(in: Sample.other, puts: [second.sealed]))
            }
            try await bed.use { vault in
                try await vault.unlock(passphrase: passphrase)
                for partition in [Sample.me, Sample.other] {
                    #expect(try vault.loadAll(RefreshTokenRecord.self, in: partition).count == 1)
                }
            }
        }
    }
}

extension Data {
    fileprivate init?(hex: String) {
        var bytes: [UInt8] = []
        var rest = hex[...]
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self.init(bytes)
    }
}
