import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

@Suite("A damaged row is set aside, and the rest continues to work")
struct DamagedRowTests {
    /// Changes to the victim's row, by an attacker or a bad disk. `{row}` is replaced by the condition that selects it; another
    /// row is the bystander's, and a third one belongs to another uid.
    static let edits: [(String, String)] = [
        (
            "the last byte of the seal is another",
            "UPDATE record SET box = CAST(substr(box, 1, length(box) - 1) || "
                + "CASE substr(box, -1) WHEN X'00' THEN X'01' ELSE X'00' END AS BLOB) WHERE {row}"
        ),
        ("the nonce is another", "UPDATE record SET box = CAST(randomblob(24) || substr(box, 25) AS BLOB) WHERE {row}"),
        ("the box is cut", "UPDATE record SET box = substr(box, 1, length(box) - 256) WHERE {row}"),
        ("the box is cut to a stump", "UPDATE record SET box = substr(box, 1, 40) WHERE {row}"),
        ("the box is empty", "UPDATE record SET box = X'' WHERE {row}"),
        ("something is added to the box", "UPDATE record SET box = CAST(box || X'00' AS BLOB) WHERE {row}"),
        (
            "the box is another row's",
            "UPDATE record SET box = (SELECT box FROM record WHERE partition = 1000 AND NOT ({row})) WHERE {row}"
        ),
        (
            "the box is another person's",
            "UPDATE record SET box = (SELECT box FROM record WHERE partition = 1001) WHERE {row}"
        ),
        ("the row claims another kind", "UPDATE record SET kind = 3 WHERE {row}"),
        ("the row claims a kind that does not exist", "UPDATE record SET kind = 4711 WHERE {row}"),
        ("the row claims another user", "UPDATE record SET partition = 1001 WHERE {row}"),
        ("the row claims an impossible uid", "UPDATE record SET partition = -1 WHERE {row}"),
        ("the row has another key", "UPDATE record SET row_key = randomblob(32) WHERE {row}"),
    ]

    private func fill(_ bed: VaultBed) async throws -> String {
        var row = ""
        try await bed.use { vault in
            let victim = try await vault.store(Sample.accessToken(), secret: "victim")
            try await vault.store(Sample.accessToken("bystander"), secret: "bystander")
            try await vault.store(Sample.accessToken(), secret: "theirs", in: Sample.other)
            row = "bucket_key = X'\(hex(victim.sealed.bucketKey))'"
        }
        return row
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("a damaged row is left out, kept as it was found, counted and reported", arguments: edits)
    func setAside(_ edited: (name: String, sql: String)) async throws {
        try await withVaultBed { bed in
            let row = try await fill(bed)
            let file = bed.file("vault.db")
            try edit(file, edited.sql.replacing("{row}", with: row))
            let found = try query(file, "SELECT partition, kind, hex(row_key), hex(box) FROM record WHERE \(row)")

            try await bed.use { vault in
                #expect(try vault.accessTokens().isEmpty)
                #expect(try vault.accessTokens().isEmpty, "found twice, counted once")
                #expect(try vault.accessTokens(of: "bystander") == ["bystander"])
                #expect(try vault.accessTokens(in: Sample.other) == ["theirs"])
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined == 1)
                #expect(try vault.statistics().records == 2)
                #expect(bed.log.lines.filter { $0.contains("damaged records were found") }.count == 1)

                try await vault.store(Sample.accessToken(), secret: "signed in again")
                #expect(try vault.accessTokens() == ["signed in again"])
            }
            #expect(
                try query(file, "SELECT partition, kind, hex(row_key), hex(box) FROM quarantine WHERE box IS NOT NULL")
                    == found)
            try await bed.use { vault throws in
                #expect(try vault.statistics().quarantined == 1)
                #expect(try !vault.statistics().isRolledBack)
            }
        }
    }

    @Test("every single flipped bit is detected")
    func everyBit() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let sealed = try vault.seal(Sample.refreshToken(), secret: Secret("r"), in: Sample.me).sealed
                for bit in stride(from: 0, to: sealed.box.count * 8, by: 7) {
                    var box = sealed.box
                    box[bit / 8] ^= 1 << (bit % 8)
                    let edited = SealedRecord(
                        partition: sealed.partition, kind: sealed.kind, rowKey: sealed.rowKey,
                        bucketKey: sealed.bucketKey, box: box)
                    let error = try await vaultError { _ = try vault.secret(of: edited) }
                    #expect(error == .recordDamaged, "bit \(bit)")
                }
            }
        }
    }

    @Test("a row under another bucket is detected when all rows of its kind are read")
    func otherBucket() async throws {
        try await withVaultBed { bed in
            let row = try await fill(bed)
            try edit(bed.file("vault.db"), "UPDATE record SET bucket_key = randomblob(32) WHERE \(row)")
            try await bed.use { vault throws in
                #expect(try vault.accessTokens().isEmpty)
                #expect(try vault.statistics().quarantined == 0)
                #expect(try vault.loadAll(AccessTokenRecord.self, in: Sample.me).count == 1)
                #expect(try vault.statistics().quarantined == 1)
            }
        }
    }

    @Test("a row that is rewritten before it is set aside stays")
    func mendedInTime() async throws {
        try await withVaultBed { bed in
            let row = try await fill(bed)
            let file = bed.file("vault.db")
            try edit(file, "UPDATE record SET box = zeroblob(400) WHERE \(row)")
            try await bed.use { vault in
                let token = try vault.seal(Sample.accessToken(), secret: Secret("new"), in: Sample.me)
                // In whichever order setting aside and this write run on the vault's thread, the new row must exist afterwards.
                async let written: Void = vault.commit(VaultChange(in: Sample.me, puts: [token.sealed]))
                _ = try vault.accessTokens()
                try await written
                try await vault.checkpoint()
                #expect(try vault.accessTokens() == ["new"])
                let counted = try vault.statistics().quarantined
                #expect(try query(file, "SELECT count(*) FROM quarantine") == [["\(counted)"]])
            }
        }
    }

    @Test("a damaged data key is an error for its user only")
    func damagedDataKey() async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            try edit(bed.file("vault.db"), "UPDATE partition_key SET wrapped = zeroblob(72) WHERE partition = 1000")
            try await bed.use { vault in
                let loading = try await vaultError { _ = try vault.accessTokens() }
                let storing = try await vaultError { try await vault.store(Sample.accessToken(), secret: "new") }
                guard case .damaged = loading, case .damaged = storing else {
                    Issue.record("\(String(describing: loading)), \(String(describing: storing))")
                    return
                }
                #expect(try vault.accessTokens(in: Sample.other) == ["theirs"])
            }
            #expect(
                try query(bed.file("vault.db"), "SELECT count(*) FROM partition_key WHERE wrapped = zeroblob(72)") == [
                    ["1"]
                ],
                "no new key is put in its place")
        }
    }

    @Test("exchanged data keys of two users open nothing")
    func exchangedDataKeys() async throws {
        try await withVaultBed { bed in
            _ = try await fill(bed)
            let file = bed.file("vault.db")
            let keys = try query(file, "SELECT hex(wrapped) FROM partition_key ORDER BY partition").map { $0[0] }
            try edit(
                file, "UPDATE partition_key SET wrapped = X'\(keys[1])' WHERE partition = 1000",
                "UPDATE partition_key SET wrapped = X'\(keys[0])' WHERE partition = 1001")
            try await bed.use { vault in
                for partition in [Sample.me, Sample.other] {
                    let error = try await vaultError { _ = try vault.accessTokens(in: partition) }
                    #expect(error?.text(of: VaultError.damaged) != nil)
                }
            }
        }
    }

    @Test("a genuine record with another version's fields is skipped, and stays for that version")
    func otherFields() async throws {
        struct Later: VaultRecord {
            static let kind = RecordKind.refreshToken
            var bucket: [String] { Sample.owner().bucket }
            var item: [String] { ["later"] }
            var renamed = 1
        }
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.refreshToken(), secret: "r")
                try await vault.store(Later(), secret: "later")
                let found = try vault.load(RefreshTokenRecord.self, bucket: Sample.owner().bucket, in: Sample.me)
                #expect(found.count == 1)
                try await vault.checkpoint()
                #expect(try vault.statistics().quarantined == 0)
                #expect(try vault.load(Later.self, bucket: Sample.owner().bucket, in: Sample.me).count == 1)
                #expect(bed.log.text.contains("fields of its kind"))
            }
        }
    }
}
