import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// Attacks of someone who can edit the file and has an earlier copy of it: every row is genuine, but some are not the newest.
@Suite("A row that was put back, or is gone, is detected, and the rest continues to work")
struct RollbackTests {
    /// The copy's row of the victim is in the file again, as if it had never been rewritten.
    static let putRowBack =
        "UPDATE record SET box = (SELECT box FROM old.record o WHERE o.row_key = record.row_key) WHERE {row}"

    /// The manifest's page of the victim. There are 256, and the bystander may be on the same one.
    private struct Page {
        var id: UInt64 = 0
        var hasBystander = false
    }

    /// Fills a vault, keeps a copy, and continues: the copy has the earlier value of the victim's token.
    private func fill(_ bed: VaultBed) async throws -> (old: URL, row: String, page: Page) {
        let old = URL(filePath: bed.bed.path("old.db"))
        var (row, page) = ("", Page())
        try await bed.use { vault in
            let victim = try await vault.store(Sample.accessToken(), secret: "old")
            row = "bucket_key = X'\(victim.sealed.bucketKey.hexadecimal)'"
            page.id = UInt64(Sample.me.uid) << 8 | UInt64(try #require(victim.sealed.bucketKey.first))
            let bystander = try await vault.store(Sample.accessToken("bystander"), secret: "bystander")
            page.hasBystander = bystander.sealed.bucketKey.first == victim.sealed.bucketKey.first
            try await vault.store(Sample.accessToken(), secret: "theirs", in: Sample.other)
        }
        try FileManager.default.copyItem(at: bed.file("vault.db"), to: old)
        try await bed.use { vault in
            try await vault.store(Sample.accessToken(), secret: "new")
            try await vault.store(Sample.refreshToken(), secret: "refresh")
            try await vault.store(Sample.accessToken(), secret: "theirs, too", in: Sample.other)
        }
        return (old, row, page)
    }

    private func refreshTokens(_ vault: Vault) throws -> [String] {
        try vault.load(RefreshTokenRecord.self, bucket: Sample.owner().bucket, in: Sample.me)
            .map { try vault.secret(of: $0.sealed).revealed() }
    }

    private func expectTheRest(_ vault: Vault, without page: Page = Page()) throws {
        #expect(try vault.accessTokens(of: "bystander") == (page.hasBystander ? [] : ["bystander"]))
        #expect(try vault.accessTokens(in: Sample.other) == ["theirs, too"])
    }

    @Test("a row put back is set aside, reported once, and can be rewritten")
    func rowPutBack() async throws {
        try await withVaultBed { bed in
            let (old, row, _) = try await fill(bed)
            try edit(bed.file("vault.db"), with: old, Self.putRowBack.replacing("{row}", with: row))
            try await bed.use { vault in
                #expect(try vault.accessTokens().isEmpty)
                #expect(try refreshTokens(vault) == ["refresh"])
                try expectTheRest(vault)
                try await vault.checkpoint()
                let found = try vault.statistics()
                #expect(found.quarantined == 1 && found.missing == 0 && !found.isRolledBack)
                #expect(bed.log.lines.filter { $0.contains("set aside") }.count == 1)
                try await vault.store(Sample.accessToken(), secret: "signed in again")
            }
            try await bed.use { vault in
                #expect(try vault.accessTokens() == ["signed in again"])
                #expect(try vault.loadAll(AccessTokenRecord.self, in: Sample.me).count == 2)
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined == 1)
            }
        }
    }

    @Test("a row put back is left out when records are read page by page, as for a backup")
    func rowPutBackInSteps() async throws {
        try await withVaultBed { bed in
            let (old, row, _) = try await fill(bed)
            try edit(bed.file("vault.db"), with: old, Self.putRowBack.replacing("{row}", with: row))
            try await bed.use { vault in
                let found = try vault.loadPage(AccessTokenRecord.self, after: 0, atMost: 10, in: Sample.me)
                #expect(found.records.map(\.record.owner.clientID) == ["bystander"])
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined == 1 && vault.statistics().missing == 0)
            }
        }
    }

    @Test("a row put back is detected in a list of all records")
    func rowPutBackInList() async throws {
        try await withVaultBed { bed in
            let (old, row, _) = try await fill(bed)
            try edit(bed.file("vault.db"), with: old, Self.putRowBack.replacing("{row}", with: row))
            try await bed.use { vault in
                #expect(
                    try vault.loadAll(AccessTokenRecord.self, in: Sample.me).map(\.record.owner.clientID) == [
                        "bystander"
                    ])
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined == 1)
            }
        }
    }

    @Test("a row put back under a running broker is detected when it is read")
    func rowPutBackMeanwhile() async throws {
        try await withVaultBed { bed in
            let (old, row, _) = try await fill(bed)
            try await bed.use { vault throws in
                #expect(try vault.accessTokens() == ["new"])
                try edit(bed.file("vault.db"), with: old, Self.putRowBack.replacing("{row}", with: row))
                #expect(try vault.accessTokens().isEmpty)
                try expectTheRest(vault)
            }
        }
    }

    @Test("a deleted row is detected, and reported once", arguments: [false, true])
    func deletedRow(inList: Bool) async throws {
        try await withVaultBed { bed in
            let (_, row, _) = try await fill(bed)
            try edit(bed.file("vault.db"), "DELETE FROM record WHERE \(row)")
            for _ in 0..<2 {
                try await bed.use { vault in
                    if inList {
                        #expect(try vault.loadAll(AccessTokenRecord.self, in: Sample.me).count == 1)
                    } else {
                        #expect(try vault.accessTokens().isEmpty)
                    }
                    try expectTheRest(vault)
                    try await vault.checkpoint()
                    let found = try vault.statistics()
                    #expect(found.quarantined == 0 && found.missing == 1 && !found.isRolledBack)
                }
            }
            #expect(bed.log.lines.filter { $0.contains("are gone") }.count == 1)
        }
    }

    @Test("a row that the broker deleted and an attacker put back is set aside")
    func deletedRowPutBack() async throws {
        try await withVaultBed { bed in
            let (old, row, _) = try await fill(bed)
            try await bed.use { vault in
                try await vault.commit(VaultChange(in: Sample.me, deletes: [Sample.accessToken().key]))
            }
            try edit(
                bed.file("vault.db"), with: old,
                "INSERT INTO record SELECT NULL, partition, kind, row_key, bucket_key, box FROM old.record WHERE \(row)"
            )
            try await bed.use { vault in
                #expect(try vault.accessTokens().isEmpty)
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined == 1)
            }
        }
    }

    @Test("a second copy of a row is set aside, and the row itself stays")
    func duplicatedRow() async throws {
        try await withVaultBed { bed in
            let (_, row, _) = try await fill(bed)
            try edit(
                bed.file("vault.db"),
                "INSERT INTO record SELECT NULL, partition, kind, randomblob(32), bucket_key, box FROM record WHERE \(row)"
            )
            try await bed.use { vault in
                #expect(try vault.accessTokens() == ["new"])
                try await vault.checkpoint()
                let found = try vault.statistics()
                #expect(found.quarantined == 1 && found.missing == 0)
            }
        }
    }

    @Test("exchanged rows are both set aside")
    func exchangedRows() async throws {
        try await withVaultBed { bed in
            let (old, _, _) = try await fill(bed)
            try edit(
                bed.file("vault.db"), with: old,
                """
                CREATE TEMP TABLE kept AS SELECT id, box FROM main.record WHERE partition = 1000 AND kind = 2;
                UPDATE main.record SET box = (SELECT box FROM temp.kept WHERE kept.id != record.id)
                WHERE partition = 1000 AND kind = 2
                """)
            try await bed.use { vault in
                #expect(try vault.loadAll(AccessTokenRecord.self, in: Sample.me).isEmpty)
                #expect(try refreshTokens(vault) == ["refresh"])
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined == 2)
            }
        }
    }

    @Test("a row put back with its page of the manifest affects the page's rows, and no others")
    func rowAndPagePutBack() async throws {
        try await withVaultBed { bed in
            let (old, row, page) = try await fill(bed)
            try edit(
                bed.file("vault.db"), with: old,
                Self.putRowBack.replacing("{row}", with: row)
                    + "; UPDATE manifest_page SET box = (SELECT box FROM old.manifest_page WHERE id = \(page.id)) WHERE id = \(page.id)"
            )
            try await bed.use { vault in
                #expect(try vault.accessTokens().isEmpty)
                try expectTheRest(vault, without: page)
                try await vault.checkpoint()
                let found = try vault.statistics()
                #expect(found.quarantined >= 1 && !found.isRolledBack)
                try await vault.store(Sample.accessToken(), secret: "signed in again")
                #expect(try vault.accessTokens() == ["signed in again"])
            }
        }
    }

    @Test(
        "deleted or exchanged pages are not trusted",
        arguments: [
            "DELETE FROM manifest_page WHERE id >> 8 = 1000", "UPDATE manifest_page SET box = randomblob(100)",
            "UPDATE manifest_page SET id = id ^ 1", "UPDATE manifest_page SET box = substr(box, 1, 30)",
        ])
    func pagesGone(sql: String) async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            try edit(bed.file("vault.db"), sql.replacing("id ^ 1", with: "-id"))
            try await bed.use { vault in
                #expect(try vault.loadAll(AccessTokenRecord.self, in: Sample.me).isEmpty)
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined >= 2)
                try await vault.store(Sample.accessToken(), secret: "signed in again")
                #expect(try vault.accessTokens() == ["signed in again"])
            }
        }
    }

    @Test("rows exchanged between two users are set aside for both")
    func exchangedBetweenPeople() async throws {
        try await withVaultBed { bed in
            let (old, row, _) = try await fill(bed)
            try edit(
                bed.file("vault.db"), with: old,
                """
                CREATE TEMP TABLE kept AS SELECT id, box FROM main.record
                WHERE \(row) OR partition = \(Sample.other.uid);
                UPDATE main.record SET box = (SELECT box FROM temp.kept WHERE kept.id != record.id)
                WHERE id IN (SELECT id FROM temp.kept)
                """)
            try await bed.use { vault in
                #expect(try vault.accessTokens().isEmpty && vault.accessTokens(in: Sample.other).isEmpty)
                #expect(try vault.accessTokens(of: "bystander") == ["bystander"])
                try await vault.checkpoint()
                let found = try vault.statistics()
                #expect(found.quarantined == 2 && found.missing == 0 && !found.isRolledBack)
            }
        }
    }

    @Test(
        "a row of an impossible partition is set aside, and does not count as a roll-back",
        arguments: ["4294967295", "-1", "1099511627776", "\(Sample.other.uid)", "77", "78"])
    func foreignPartition(number: String) async throws {
        try await withVaultBed { bed in
            let (_, row, _) = try await fill(bed)
            try edit(
                bed.file("vault.db"), "INSERT INTO partition_key VALUES (78, randomblob(72))",
                """
                INSERT INTO record SELECT NULL, \(number), kind, randomblob(32), bucket_key, box FROM record WHERE \(row)
                """)
            try await bed.use { vault in
                #expect(try vault.accessTokens() == ["new"])
                try expectTheRest(vault)
                try await vault.checkpoint()
                let found = try vault.statistics()
                #expect(found.quarantined == 1 && found.missing == 0 && !found.isRolledBack)
                #expect(bed.log.lines.filter { $0.contains("could not be set aside") }.isEmpty)
            }
        }
    }

    @Test("damage is reported until the user accepts the state")
    func accepted() async throws {
        try await withVaultBed { bed in
            let (old, row, _) = try await fill(bed)
            try edit(bed.file("vault.db"), with: old, Self.putRowBack.replacing("{row}", with: row))
            try edit(bed.file("vault.db"), "DELETE FROM record WHERE kind = 3 AND partition = \(Sample.me.uid)")
            try await bed.use { vault in
                #expect(try vault.accessTokens().isEmpty && refreshTokens(vault).isEmpty)
                try await vault.checkpoint()
                let found = try vault.statistics()
                #expect(found.quarantined == 1 && found.missing == 1)
                try await vault.store(Sample.accessToken(), secret: "signed in again")
            }
            try await bed.use { vault in
                #expect(try vault.statistics().quarantined == 1 && vault.statistics().missing == 1)
                try await vault.acceptState(of: Sample.me)
                #expect(try vault.statistics().quarantined == 0 && vault.statistics().missing == 0)
            }
            try await bed.use { vault throws in
                let found = try vault.statistics()
                #expect(found.quarantined == 0 && found.missing == 0)
                #expect(try vault.accessTokens() == ["signed in again"])
                try expectTheRest(vault)
            }
        }
    }
}
