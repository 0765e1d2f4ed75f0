import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("A file that is not a whole vault is refused and left as it is")
struct DamagedFileTests {
    private func fill(_ bed: VaultBed) async throws {
        try await bed.use { vault in
            for number in 0..<20 {
                try await vault.store(Sample.accessToken("client-\(number)"), secret: Sample.accessToken)
            }
        }
    }

    /// Opens a vault that must not open; the data files must stay unchanged.
    private func refusal(_ bed: VaultBed) async throws -> VaultError? {
        func data() throws -> [String: Data] {
            try bed.contents().filter { !$0.key.hasSuffix("-shm") && $0.key != "vault.lock" && !$0.value.isEmpty }
        }
        let before = try data()
        let error = try await vaultError { await (try await bed.open()).close() }
        let after = try data()
        #expect(after.keys.sorted() == before.keys.sorted())
        for (name, bytes) in before { #expect(after[name] == bytes, "\(name) was changed") }
        return error
    }

    private func expectDamaged(_ bed: VaultBed, _ what: String) async throws {
        let error = try await refusal(bed)
        let text = try #require(error?.text(of: VaultError.damaged), "\(what)")
        #expect(text.contains("vault.db"))
    }

    @Test("a pipe as a side file does not block", arguments: ["vault.db-wal", "vault.db-shm", "vault.db-journal"])
    func pipe(name: String) async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            unlink(bed.file(name).path)
            #expect(mkfifo(bed.file(name).path, 0o600) == 0)
            let error = try await vaultError { await (try await bed.open()).close() }
            let text = try #require(error?.text(of: VaultError.notPrivate))
            #expect(text.contains("\(name) is not a regular file"))
        }
    }

    @Test("garbage of any length is refused", arguments: [0, 1, 99, 100, 4096, 50_000])
    func garbage(count: Int) async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            var random = SystemRandomNumberGenerator()
            try Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: bed.file("vault.db"))
            chmod(bed.file("vault.db").path, 0o600)
            try await expectDamaged(bed, "\(count) bytes")
        }
    }

    @Test("a file truncated at any length is refused", arguments: [0, 15, 99, 100, 4095, 4096, 8192, -4096, -1])
    func cut(count: Int) async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            let whole = try bed.bytes("vault.db").count
            truncate(bed.file("vault.db").path, count > 0 || count == 0 ? count : whole + count)
            try await expectDamaged(bed, "cut at \(count)")
        }
    }

    @Test("a truncated file with a log is refused")
    func cutWithLog() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            let vault = try await bed.open()
            try await vault.store(Sample.refreshToken(), secret: "in the log")
            let contents = try bed.contents()
            await vault.close()
            try contents["vault.db"]?.prefix(12_288).write(to: bed.file("vault.db"))
            try contents["vault.db-wal"]?.write(to: bed.file("vault.db-wal"))
            for name in ["vault.db", "vault.db-wal"] { chmod(bed.file(name).path, 0o600) }
            try await expectDamaged(bed, "cut, with a log")
        }
    }

    @Test("a broker that was killed while moving the log into the file loses nothing")
    func interruptedCheckpoint() async throws {
        try await withVaultBed { bed in
            let vault = try await bed.open()
            for number in 0..<20 {
                try await vault.store(Sample.accessToken("client-\(number)"), secret: Sample.accessToken)
            }
            let log = try bed.bytes("vault.db-wal")
            var file = try bed.bytes("vault.db")
            await vault.close()
            // The first page, with the new length, is written; the others are not.
            let finished = try bed.bytes("vault.db")
            #expect(finished.count > file.count)
            file.replaceSubrange(0..<4096, with: finished.prefix(4096))
            try file.write(to: bed.file("vault.db"))
            try log.write(to: bed.file("vault.db-wal"))
            for name in ["vault.db", "vault.db-wal"] { chmod(bed.file(name).path, 0o600) }
            try await bed.use { vault throws in
                #expect(try vault.loadAll(AccessTokenRecord.self, in: Sample.me).count == 20)
                #expect(try vault.statistics().quarantined == 0)
            }
        }
    }

    @Test("a log without its vault is not taken for a first start")
    func logWithoutVault() async throws {
        try await withVaultBed { bed in
            let vault = try await bed.open()
            try await vault.store(Sample.refreshToken(), secret: "r")
            let log = try bed.bytes("vault.db-wal")
            await vault.close()
            try FileManager.default.removeItem(at: bed.file("vault.db"))
            try log.write(to: bed.file("vault.db-wal"))
            try await expectDamaged(bed, "log only")
        }
    }

    @Test("another program's database is refused")
    func otherDatabase() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try edit(bed.file("vault.db"), "PRAGMA application_id = 1")
            try await expectDamaged(bed, "another application's id")
        }
    }

    @Test(
        "a file with tables that no broker made is refused",
        arguments: [
            "CREATE TRIGGER spy AFTER INSERT ON record BEGIN DELETE FROM record; END",
            "CREATE VIEW spy AS SELECT * FROM record", "CREATE TABLE spy (x)", "DROP TABLE quarantine",
            "DROP INDEX record_by_bucket", "ALTER TABLE record RENAME COLUMN box TO chest",
        ])
    func otherTables(sql: String) async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try edit(bed.file("vault.db"), sql)
            try await expectDamaged(bed, sql)
        }
    }

    @Test("a header lacking a value is refused", arguments: ["vault-id", "key-source", "key-parameters", "key-check"])
    func missingHeader(name: String) async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try edit(bed.file("vault.db"), "DELETE FROM header WHERE name = '\(name)'")
            try await expectDamaged(bed, "no \(name)")
        }
    }

    @Test("a later version's file is distinguished from a damaged one")
    func newerFormat() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try edit(bed.file("vault.db"), "PRAGMA user_version = 7")
            let error = try await refusal(bed)
            #expect(error == .newerFormat(found: 7, supported: 2))
            #expect(error?.description.contains("later version") == true)
            try edit(bed.file("vault.db"), "PRAGMA user_version = 0")
            try await expectDamaged(bed, "format 0")
        }
    }

    @Test("a file whose newer format is still in the log is recognised")
    func newerFormatInLog() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            let vault = try await bed.open()
            try edit(bed.file("vault.db"), "PRAGMA user_version = 7")
            let log = try bed.bytes("vault.db-wal")
            let file = try bed.bytes("vault.db")
            await vault.close()
            try file.write(to: bed.file("vault.db"))
            try log.write(to: bed.file("vault.db-wal"))
            for name in ["vault.db", "vault.db-wal"] { chmod(bed.file(name).path, 0o600) }
            #expect(try await refusal(bed) == .newerFormat(found: 7, supported: 2))
        }
    }

    @Test("damaged pages in the middle are reported when they are read")
    func badPage() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                for number in 0..<300 {
                    try await vault.store(Sample.accessToken("client-\(number)"), secret: "token \(number)")
                }
            }
            var bytes = try bed.bytes("vault.db")
            for page in stride(from: 6, to: bytes.count / 4096, by: 1) {
                bytes.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(repeating: 0xA5, count: 64))
            }
            try bytes.write(to: bed.file("vault.db"))
            chmod(bed.file("vault.db").path, 0o600)
            let error = try await vaultError {
                try await bed.use { _ = try $0.loadAll(AccessTokenRecord.self, in: Sample.me) }
            }
            #expect(error?.text(of: VaultError.damaged) != nil)
        }
    }
}
