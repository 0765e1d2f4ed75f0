import BrokerModel
import BrokerTestSupport
import BrokerVault
import BrokerVaultSQLite
import Foundation
import Testing

@Suite("Changing the keys of a vault while the disk is full, or while somebody reads")
struct KeyChangeFaultTests {
    /// A vault with two users' records, in a store with faults.
    private func withVault(_ body: (Vault, RowStoreDouble) async throws -> Void) async throws {
        try await withVaultBed { bed in
            let rows = RowStoreDouble(SQLiteStore(in: try StateDirectory.open(creating: bed.path)))
            try await bed.use(rows: rows) { vault in
                try await vault.store(Sample.refreshToken(), secret: "mine")
                try await vault.store(Sample.refreshToken(), secret: "other", in: Sample.other)
                try await body(vault, rows)
            }
        }
    }

    private func secrets(of partition: Partition = Sample.me, in vault: Vault) throws -> [String] {
        try vault.load(RefreshTokenRecord.self, bucket: Sample.owner().bucket, in: partition)
            .map { try vault.secret(of: $0.sealed).revealed() }
    }

    private func settled(_ vault: Vault) async throws {
        try await eventually("all records are resealed") { await !vault.keyStatus().isResealing }
    }

    @Test("resealing that a full disk ended goes on after the next commit, and is reported as unfinished until then")
    func fullDisk() async throws {
        try await withVault { vault, rows in
            rows.limitWrites(to: 1)
            try await vault.replaceDataKeys(at: 10)
            let another = try await vaultError { try await vault.replaceDataKeys(at: 11) }
            guard case .unsuitable = another else { return #expect(Bool(false), "\(String(describing: another))") }
            // Each step queued before this commit has met the full disk.
            let late = try vault.seal(Sample.refreshToken("late"), secret: nil, in: Sample.me).sealed
            let refused = try await vaultError { try await vault.commit(VaultChange(in: Sample.me, puts: [late])) }
            guard case .full = refused else { return #expect(Bool(false), "\(String(describing: refused))") }
            #expect(await vault.keyStatus().isResealing)

            rows.limitWrites(to: nil)
            try await vault.commit(VaultChange(in: Sample.me, puts: [late]))
            try await settled(vault)
            #expect(try secrets(in: vault) == ["mine"] && secrets(of: Sample.other, in: vault) == ["other"])
            try await vault.replaceDataKeys(at: 12)
            try await settled(vault)
        }
    }

    @Test("a read that a rotation overtakes finds its records")
    func overtakenRead() async throws {
        try await withVault { vault, rows in
            let (isReading, mayRead) = (Gate(), Gate())
            rows.beforeNextRead {
                isReading.open()
                mayRead.block()
            }
            let found = Promise<[String]>()
            Thread.detachNewThread { [self] in found.fulfil((try? secrets(in: vault)) ?? []) }
            await isReading.wait()
            try await vault.replaceDataKeys(at: 10)
            try await settled(vault)
            mayRead.open()
            #expect(await found.value == ["mine"])
        }
    }

    @Test("keys first read while the key source is being changed can be unwrapped")
    func overtakenSource() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in try await vault.store(Sample.refreshToken(), secret: "mine") }
            let rows = RowStoreDouble(SQLiteStore(in: try StateDirectory.open(creating: bed.path)))
            try await bed.use(rows: rows) { vault in
                let (isWritten, mayReturn) = (Gate(), Gate())
                rows.afterNextWrite {
                    isWritten.open()
                    mayReturn.block()
                }
                let change = Task {
                    try await vault.setKeySource("passphrase", passphrase: Secret("a long sentence"), at: 9)
                }
                await isWritten.wait()
                let found = Result { try secrets(in: vault) }
                mayReturn.open()
                try await change.value
                #expect(try found.get() == ["mine"])
                #expect(try secrets(in: vault) == ["mine"])
            }
        }
    }
}
