import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// `Fixtures/vault-format-1.sql` was written by a broker of that time, with the key that opens it.
@Suite("A vault of an earlier version is migrated at the first start")
struct MigrationTests {
    private let me = Partition(uid: 0)

    private func putFixture(in bed: VaultBed) throws {
        _ = try StateDirectory.open(creating: bed.path)
        let script = try String(contentsOfFile: PackageTree.fixture("vault-format-1.sql"), encoding: .utf8)
        let key = try #require(script.split(separator: "\n").first { $0.hasPrefix("-- key ") }).dropFirst(7)
        try Data("token-broker vault key 1\n\(key)\n".utf8).write(to: bed.file("vault.key"))
        try make(bed.file("vault.db"), script)
        for name in ["vault.db", "vault.key"] { chmod(bed.file(name).path, 0o600) }
    }

    private func expectContent(_ vault: Vault) throws {
        func secrets<Record: VaultRecord>(_ type: Record.Type) throws -> [String] {
            try vault.loadAll(type, in: me).map { try vault.secret(of: $0.sealed).revealed() }
        }
        #expect(try secrets(RefreshTokenRecord.self) == ["the-refresh-token"])
        #expect(try secrets(AccessTokenRecord.self) == ["the-access-token"])
        #expect(try secrets(IDTokenRecord.self).count == 1)
        #expect(try vault.loadAll(AccountRecord.self, in: me).map(\.record.username) == ["ada@example.org"])
        let apps = try vault.load(AppRecord.self, bucket: [], in: me).map(\.record)
        #expect(apps.map(\.name).sorted() == ["mail", "payroll"])
        #expect(apps.first { $0.name == "payroll" }?.executables == ["/usr/bin/payroll-program"])
    }

    @Test("a migrated vault has all its records, and damaged ones are set aside")
    func migrated() async throws {
        try await withVaultBed { bed in
            try putFixture(in: bed)
            for _ in 0..<2 {
                try await bed.use { vault in
                    try expectContent(vault)
                    try await vault.checkpoint()
                    let found = try vault.statistics()
                    #expect(found.quarantined == 2 && found.missing == 0 && !found.isRolledBack)
                }
            }
            #expect(bed.log.lines.filter { $0.contains("newer format") }.count == 1)
            // Logged first: a broker that is killed in between has left the vault as it was.
            let said = bed.log.lines.firstIndex { $0.contains("cannot open it any more") }
            let done = bed.log.lines.firstIndex { $0.contains("newer format") }
            #expect(try #require(said) < #require(done))
            #expect(try query(bed.file("vault.db"), "PRAGMA user_version") == [["2"]])
        }
    }

    @Test("a row of the earlier file does not open in the current format")
    func earlierRow() async throws {
        try await withVaultBed { bed in
            try putFixture(in: bed)
            let old = URL(filePath: bed.bed.path("old.db"))
            try FileManager.default.copyItem(at: bed.file("vault.db"), to: old)
            try await bed.use { try expectContent($0) }
            try edit(
                bed.file("vault.db"), with: old,
                """
                UPDATE record SET box = (SELECT box FROM old.record o WHERE o.row_key = record.row_key)
                WHERE kind = 3
                """)
            try await bed.use { vault throws in
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: me).isEmpty)
                #expect(try vault.loadAll(AccessTokenRecord.self, in: me).count == 1)
            }
        }
    }

    @Test("the earlier file put back after the migration is detected")
    func earlierFile() async throws {
        try await withVaultBed { bed in
            try putFixture(in: bed)
            try await bed.use { vault in try await vault.store(Sample.refreshToken(), secret: "later", in: me) }
            for name in ["vault.db", "vault.key"] { try FileManager.default.removeItem(at: bed.file(name)) }
            try putFixture(in: bed)
            try await bed.use { vault throws in
                #expect(vault.isRolledBack(me))
                try expectContent(vault)
            }
        }
    }
}
