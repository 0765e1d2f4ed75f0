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
        try await eventually("all records are resealed") { await !vault.keyStatus().isResealing }
    }

    @Test("another source wraps the same data keys without rewriting records")
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
            // The file contains nothing that the key file wrapped.
            let file = try bed.bytes("vault.db")
            for old in wrapped {
                let bytes = try #require(Data(hex: old))
                #expect(file.range(of: bytes) == nil)
            }
        }
    }

    @Test("replacing the data key reseals every record, and all stay readable meanwhile")
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
                // Records in memory from before still open, and are written with the new key.
                #expect(try vault.secret(of: held.sealed).revealed().hasPrefix("secret-"))
                try await vault.commit(VaultChange(in: Sample.me, puts: [held.sealed]))
            }
            #expect(Set(try boxes(bed)).isDisjoint(with: before))
            try await bed.use { vault in
                try await settled(vault)
                try check(vault)
                // A second time, because then the first key is no longer a special case.
                try await vault.replaceDataKeys(at: 11)
                try await settled(vault)
            }
            try await bed.use { vault in try check(vault) }
        }
    }

    @Test("the former data key opens nothing in the vault")
    func formerKey() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in try await fill(vault) }
            let old = try wrapped(bed)
            try await bed.use { vault in
                try await vault.replaceDataKeys(at: 10)
                try await settled(vault)
            }
            // An attacker puts the wrapped former key back.
            try edit(
                bed.file("vault.db"),
                "UPDATE partition_key SET wrapped = x'\(old[0])' WHERE partition = \(Sample.me.uid)")
            try await bed.use { vault throws in
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).isEmpty)
            }
        }
    }

    @Test("locking interrupts resealing, and unlocking continues it")
    func lockedMeanwhile() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await fill(vault)
                try await vault.replaceDataKeys(at: 10)
                vault.lock()
                #expect(vault.isLocked)
                try await vault.unlock(passphrase: nil)
                try await settled(vault)
                try check(vault)
            }
            #expect(try wrapped(bed).allSatisfy { $0.count == 2 * (64 + 40) }, "one key is left, and the names'")
        }
    }

    @Test("a new partition whose key is not on disk yet survives a lock and a change of the source")
    func unsavedPartition() async throws {
        try await withVaultBed { bed in
            let passphrase = Secret("a long sentence")
            try await bed.use { vault in
                let stored = try vault.seal(Sample.refreshToken(), secret: Secret("r"), in: Sample.me)
                vault.lock()
                // It waited for the disk. The row no longer needs a key, but the list of rows does.
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
