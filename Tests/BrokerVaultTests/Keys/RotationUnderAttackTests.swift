import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// A new data key reseals everything. Rows that an attacker put back must not become new ones by this.
@Suite("Replacing the data key makes no old row a new one")
struct RotationUnderAttackTests {
    /// Fills a vault, keeps a copy in which the victim's token is an earlier one, and continues.
    private func fill(_ bed: VaultBed) async throws -> (old: URL, bucketKey: [UInt8]) {
        let old = URL(filePath: bed.bed.path("old.db"))
        var bucketKey: [UInt8] = []
        try await bed.use { vault in
            bucketKey = try await vault.store(Sample.accessToken(), secret: "old").sealed.bucketKey
            for number in 0..<200 {
                try await vault.store(Sample.refreshToken("client-\(number)"), secret: "bystander")
            }
        }
        try FileManager.default.copyItem(at: bed.file("vault.db"), to: old)
        try await bed.use { try await $0.store(Sample.accessToken(), secret: "new") }
        return (old, bucketKey)
    }

    private func rotate(_ vault: Vault) async throws {
        try await vault.replaceDataKeys(at: 10)
        try await eventually("all records are resealed") { await !vault.keyStatus().isResealing }
        try await vault.checkpoint()
    }

    private func expectBystanders(_ vault: Vault, atLeast count: Int = 200) throws {
        #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count >= count)
    }

    @Test("an old row that was put back is set aside, whether or not it was read before", arguments: [true, false])
    func rowPutBack(whileRunning: Bool) async throws {
        try await withVaultBed { bed in
            let (old, key) = try await fill(bed)
            let row = "bucket_key = X'\(key.hexadecimal)'"
            let putBack = RollbackTests.putRowBack.replacing("{row}", with: row)
            if !whileRunning { try edit(bed.file("vault.db"), with: old, putBack) }
            try await bed.use { vault in
                if whileRunning { try edit(bed.file("vault.db"), with: old, putBack) }
                try await rotate(vault)
                #expect(try vault.accessTokens().isEmpty)
                #expect(try vault.statistics().quarantined == 1)
                try expectBystanders(vault)
            }
            try await bed.use { vault throws in
                #expect(try vault.accessTokens().isEmpty)
                #expect(try !vault.statistics().isRolledBack)
                try expectBystanders(vault)
            }
        }
    }

    @Test("a deleted row is detected although its page has no more rows to reseal")
    func deletedRow() async throws {
        try await withVaultBed { bed in
            let (_, key) = try await fill(bed)
            let page = "substr(bucket_key, 1, 1) = X'\([try #require(key.first)].hexadecimal)'"
            let victims = try #require(
                Int(try query(bed.file("vault.db"), "SELECT count(*) FROM record WHERE \(page)")[0][0]))
            try edit(bed.file("vault.db"), "DELETE FROM record WHERE \(page)")
            try await bed.use { vault in
                try await rotate(vault)
                let found = try vault.statistics()
                #expect(found.missing == victims && found.quarantined == 0)
                #expect(try vault.accessTokens().isEmpty)
                try await vault.store(Sample.accessToken(), secret: "signed in again")
            }
            try await bed.use { vault throws in #expect(try vault.accessTokens() == ["signed in again"]) }
        }
    }

    @Test("an old row put back with its page of the manifest is set aside, without other pages' rows")
    func pagePutBack() async throws {
        try await withVaultBed { bed in
            let (old, key) = try await fill(bed)
            let page = "\(UInt64(Sample.me.uid) << 8 | UInt64(try #require(key.first)))"
            try edit(
                bed.file("vault.db"), with: old,
                RollbackTests.putRowBack.replacing("{row}", with: "bucket_key = X'\(key.hexadecimal)'")
                    + "; UPDATE manifest_page SET box = (SELECT box FROM old.manifest_page WHERE id = \(page)) WHERE id = \(page)"
            )
            try await bed.use { vault in
                try await rotate(vault)
                #expect(try vault.accessTokens().isEmpty)
                #expect(try vault.statistics().quarantined >= 1)
                // Some may be on the same page.
                try expectBystanders(vault, atLeast: 180)
            }
        }
    }

    @Test("a rolled-back partition is still reported after resealing")
    func partitionPutBack() async throws {
        try await withVaultBed { bed in
            let (old, _) = try await fill(bed)
            try edit(
                bed.file("vault.db"), with: old,
                """
                DELETE FROM record; INSERT INTO record SELECT * FROM old.record;
                DELETE FROM manifest_page; INSERT INTO manifest_page SELECT * FROM old.manifest_page;
                UPDATE manifest SET box = (SELECT box FROM old.manifest WHERE partition = \(Sample.me.uid))
                WHERE partition = \(Sample.me.uid)
                """)
            try await bed.use { vault in
                try await rotate(vault)
                #expect(vault.isRolledBack(Sample.me))
                #expect(try vault.accessTokens() == ["old"])
            }
            try await bed.use { vault throws in #expect(vault.isRolledBack(Sample.me)) }
        }
    }

    @Test("after resealing without anchors, the next session has no false alarm")
    func withoutSession() async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            let kept = bed.bed.path("kept")
            try FileManager.default.moveItem(atPath: bed.anchors, toPath: kept)
            for _ in 0..<2 { try await bed.use { try await rotate($0) } }
            try FileManager.default.removeItem(atPath: bed.anchors)
            try FileManager.default.moveItem(atPath: kept, toPath: bed.anchors)
            try await bed.use { vault throws in #expect(try !vault.statistics().isRolledBack) }
        }
    }
}
