import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// A consistent earlier state: nothing in it is invalid, it is only old.
@Suite("An earlier state of a partition or the whole file is detected, served, and reported until accepted")
struct WholeRollbackTests {
    private func fill(_ bed: VaultBed) async throws -> URL {
        let old = URL(filePath: bed.bed.path("old.db"))
        try await bed.use { vault in
            for partition in [Sample.me, Sample.other] {
                try await vault.store(Sample.accessToken(), secret: "old", in: partition)
                try await vault.store(Sample.accessToken("bystander"), secret: "bystander", in: partition)
            }
        }
        try FileManager.default.copyItem(at: bed.file("vault.db"), to: old)
        try await bed.use { vault in
            for partition in [Sample.me, Sample.other] {
                try await vault.store(Sample.accessToken(), secret: "new", in: partition)
            }
        }
        return old
    }

    private func putBack(_ old: URL, in bed: VaultBed) throws {
        try FileManager.default.removeItem(at: bed.file("vault.db"))
        try FileManager.default.copyItem(at: old, to: bed.file("vault.db"))
        chmod(bed.file("vault.db").path, 0o600)
    }

    private func forgetAnchor(_ bed: VaultBed) throws {
        try FileManager.default.removeItem(atPath: bed.anchors)
    }

    @Test("an earlier whole file is detected by the anchor in the runtime directory")
    func wholeFile() async throws {
        try await withVaultBed { bed in
            let old = try await fill(bed)
            try await bed.use { vault throws in #expect(try !vault.statistics().isRolledBack) }
            try putBack(old, in: bed)
            try await bed.use { vault in
                #expect(vault.isRolledBack(Sample.me) && vault.isRolledBack(Sample.other))
                #expect(try vault.accessTokens() == ["old"])
                #expect(bed.log.text.contains("an earlier vault was put in place"))
                try await vault.checkpoint()
            }
            // By now the file itself records the roll-back.
            try forgetAnchor(bed)
            try await bed.use { vault in
                #expect(try vault.statistics().isRolledBack)
                try await vault.store(Sample.accessToken(), secret: "later")
                #expect(vault.isRolledBack(Sample.me))
                try await vault.acceptState(of: Sample.me)
                #expect(!vault.isRolledBack(Sample.me) && vault.isRolledBack(Sample.other))
            }
            try await bed.use { vault throws in
                #expect(!vault.isRolledBack(Sample.me) && vault.isRolledBack(Sample.other))
                #expect(try vault.accessTokens() == ["later"])
                #expect(try vault.statistics().quarantined == 0)
            }
        }
    }

    @Test("another file with the same number of commits is not taken for the last one")
    func fork() async throws {
        try await withVaultBed { bed in
            let old = try await fill(bed)
            let newest = URL(filePath: bed.bed.path("newest.db"))
            try FileManager.default.copyItem(at: bed.file("vault.db"), to: newest)
            // The same two commits again, on the old file, without anchors.
            try putBack(old, in: bed)
            try FileManager.default.moveItem(atPath: bed.anchors, toPath: bed.bed.path("anchors"))
            try await bed.use { vault in
                for partition in [Sample.me, Sample.other] {
                    try await vault.store(Sample.accessToken(), secret: "forked", in: partition)
                }
            }
            try forgetAnchor(bed)
            try FileManager.default.moveItem(atPath: bed.bed.path("anchors"), toPath: bed.anchors)
            try await bed.use { vault throws in #expect(vault.isRolledBack(Sample.me)) }
        }
    }

    @Test("an earlier whole file is not detected if the anchor is lost as well")
    func wholeFileUnnoticed() async throws {
        try await withVaultBed { bed in
            let old = try await fill(bed)
            try putBack(old, in: bed)
            try forgetAnchor(bed)
            try await bed.use { vault throws in
                #expect(try !vault.statistics().isRolledBack)
                #expect(try vault.accessTokens() == ["old"])
            }
        }
    }

    @Test("an earlier state of one partition is detected")
    func onePartition() async throws {
        try await withVaultBed { bed in
            let old = try await fill(bed)
            try edit(
                bed.file("vault.db"), with: old,
                """
                DELETE FROM record WHERE partition = 1000; DELETE FROM manifest WHERE partition = 1000;
                DELETE FROM manifest_page WHERE id >> 8 = 1000;
                INSERT INTO record SELECT NULL, partition, kind, row_key, bucket_key, box FROM old.record WHERE partition = 1000;
                INSERT INTO manifest SELECT * FROM old.manifest WHERE partition = 1000;
                INSERT INTO manifest_page SELECT * FROM old.manifest_page WHERE id >> 8 = 1000
                """)
            try await bed.use { vault in
                #expect(try vault.accessTokens(in: Sample.other) == ["new"])
                #expect(try vault.accessTokens() == ["old"])
                #expect(vault.isRolledBack(Sample.me) && !vault.isRolledBack(Sample.other))
                try await vault.store(Sample.accessToken(), secret: "later")
            }
            try await bed.use { vault in
                #expect(vault.isRolledBack(Sample.me) && !vault.isRolledBack(Sample.other))
                #expect(try vault.accessTokens() == ["later"])
                try await vault.acceptState(of: Sample.me)
            }
            try await bed.use { vault throws in #expect(try !vault.statistics().isRolledBack) }
        }
    }

    @Test("a rolled-back partition is detected by a write before any read")
    func noticedByWriting() async throws {
        try await withVaultBed { bed in
            let old = try await fill(bed)
            try edit(
                bed.file("vault.db"), with: old,
                "UPDATE manifest SET box = (SELECT box FROM old.manifest WHERE partition = 1000) WHERE partition = 1000"
            )
            try await bed.use { vault in
                try await vault.store(Sample.refreshToken(), secret: "r")
                #expect(vault.isRolledBack(Sample.me) && !vault.isRolledBack(Sample.other))
                #expect(bed.log.text.contains("1000"))
            }
        }
    }

    @Test("a deleted partition is detected", arguments: [true, false])
    func partitionGone(readsFirst: Bool) async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            try edit(
                bed.file("vault.db"), "DELETE FROM record WHERE partition = 1000",
                "DELETE FROM manifest WHERE partition = 1000", "DELETE FROM manifest_page WHERE id >> 8 = 1000",
                "DELETE FROM partition_key WHERE partition = 1000")
            try await bed.use { vault in
                if readsFirst { #expect(try vault.accessTokens().isEmpty) }
                try await vault.store(Sample.accessToken(), secret: "begun anew")
                #expect(vault.isRolledBack(Sample.me))
                #expect(try vault.accessTokens() == ["begun anew"])
                #expect(try vault.accessTokens(in: Sample.other) == ["new"])
            }
        }
    }

    @Test(
        "rows of a partition whose root is gone or damaged are set aside",
        arguments: [
            "DELETE FROM manifest WHERE partition = 1000",
            "UPDATE manifest SET box = zeroblob(100) WHERE partition = 1000",
            "UPDATE manifest SET box = CAST(substr(box, 1, 40) || randomblob(length(box) - 40) AS BLOB) WHERE partition = 1000",
        ])
    func rootGone(sql: String) async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            try edit(bed.file("vault.db"), sql)
            try await bed.use { vault in
                #expect(try vault.accessTokens().isEmpty)
                #expect(try vault.accessTokens(of: "bystander").isEmpty)
                #expect(try vault.accessTokens(in: Sample.other) == ["new"])
                try await vault.store(Sample.accessToken(), secret: "signed in again")
            }
            try await bed.use { vault throws in
                #expect(try vault.accessTokens() == ["signed in again"])
                #expect(try vault.statistics().quarantined == 2)
            }
        }
    }

    @Test(
        "if the vault's manifest is gone or damaged, rows are served and marked as possibly old",
        arguments: [
            "DELETE FROM manifest WHERE partition = 4294967295",
            "UPDATE manifest SET box = zeroblob(100) WHERE partition = 4294967295",
            "DELETE FROM partition_key WHERE partition = 4294967295",
            "UPDATE partition_key SET wrapped = zeroblob(72) WHERE partition = 4294967295",
        ])
    func manifestGone(sql: String) async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            try edit(bed.file("vault.db"), sql)
            try forgetAnchor(bed)
            for _ in 0..<2 {
                try await bed.use { vault in
                    #expect(vault.isRolledBack(Sample.me) && vault.isRolledBack(Sample.other))
                    #expect(try vault.accessTokens() == ["new"])
                    try await vault.checkpoint()
                    #expect(try vault.statistics().quarantined == 0)
                }
            }
            #expect(bed.log.text.contains("manifest is gone or was changed"))
            try await bed.use { try await $0.acceptState(of: Sample.me) }
            try await bed.use { vault throws in
                #expect(!vault.isRolledBack(Sample.me))
                #expect(try vault.accessTokens() == ["new"])
            }
        }
    }

    @Test("an earlier vault manifest alone does not match any partition")
    func earlierManifest() async throws {
        try await withVaultBed { bed in
            let old = try await fill(bed)
            try edit(
                bed.file("vault.db"), with: old,
                "UPDATE manifest SET box = (SELECT box FROM old.manifest WHERE partition = 4294967295) WHERE partition = 4294967295"
            )
            try forgetAnchor(bed)
            try await bed.use { vault throws in
                #expect(try vault.accessTokens() == ["new"])
                #expect(vault.isRolledBack(Sample.me))
                #expect(try vault.accessTokens(in: Sample.other) == ["new"])
                #expect(vault.isRolledBack(Sample.other))
            }
        }
    }

    @Test("a vault that was emptied, or is from before the first record, is detected", arguments: [true, false])
    func emptied(isNew: Bool) async throws {
        try await withVaultBed { bed in
            try await bed.use { _ in }
            let before = URL(filePath: bed.bed.path("before.db"))
            try FileManager.default.copyItem(at: bed.file("vault.db"), to: before)
            _ = try await fill(bed)
            if isNew {
                try putBack(before, in: bed)
            } else {
                try edit(
                    bed.file("vault.db"), "DELETE FROM record", "DELETE FROM manifest", "DELETE FROM manifest_page",
                    "DELETE FROM partition_key", "DELETE FROM quarantine")
            }
            for _ in 0..<2 {
                try await bed.use { vault in
                    #expect(vault.isRolledBack(Sample.me))
                    #expect(try vault.accessTokens().isEmpty)
                    try await vault.store(Sample.accessToken(), secret: "begun anew")
                    #expect(vault.isRolledBack(Sample.me))
                    try await vault.commit(VaultChange(in: Sample.me, deletes: [Sample.accessToken().key]))
                }
            }
            try await bed.use { vault in
                try await vault.acceptState(of: Sample.me)
                #expect(!vault.isRolledBack(Sample.me))
                #expect(try !vault.statistics().isRolledBack)
            }
            try await bed.use { vault throws in #expect(!vault.isRolledBack(Sample.me)) }
        }
    }

    @Test("a file that claims to have no manifests does not open")
    func downgrade() async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            try edit(
                bed.file("vault.db"), "DROP TABLE manifest", "DROP TABLE manifest_page", "PRAGMA user_version = 1")
            let before = try bed.bytes("vault.db")
            let error = try await vaultError { await (try await bed.open()).close() }
            #expect(error?.text(of: VaultError.wrongKey) != nil)
            #expect(try bed.bytes("vault.db") == before)
        }
    }

    @Test("readers during writes never see a false alarm")
    func noFalseAlarm() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.accessToken(), secret: "0")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<2 {
                        group.addTask {
                            for _ in 0..<2_000 {
                                #expect(try vault.accessTokens().count == 1)
                                _ = try vault.loadAll(RefreshTokenRecord.self, in: Sample.me)
                            }
                        }
                    }
                    for number in 1...300 {
                        try await vault.store(Sample.accessToken(), secret: "\(number)")
                        try await vault.store(Sample.refreshToken(), secret: "\(number)", in: Sample.other)
                    }
                    try await group.waitForAll()
                }
                let found = try vault.statistics()
                #expect(found.quarantined == 0 && found.missing == 0 && !found.isRolledBack)
            }
        }
    }
}
