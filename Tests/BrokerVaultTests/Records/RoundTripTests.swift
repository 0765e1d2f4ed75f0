import BrokerModel
import BrokerTestSupport
import BrokerValues
import BrokerVault
import Testing

@Suite("Records stored in the vault are read back")
struct RoundTripTests {
    @Test("records and secrets survive closing and reopening")
    func survivesRestart() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.accessToken(), secret: Sample.accessToken)
                try await vault.store(Sample.account())
            }
            try await bed.use { vault in
                let tokens = try vault.load(AccessTokenRecord.self, bucket: Sample.owner().bucket, in: Sample.me)
                let token = try #require(tokens.first)
                #expect(tokens.count == 1)
                #expect(token.record.scopes == Sample.scopes)
                #expect(token.record.expiresOn == 2_000_000_000)
                #expect(try vault.secret(of: token.sealed) == Secret(Sample.accessToken))

                let accounts = try vault.loadAll(AccountRecord.self, in: Sample.me)
                #expect(accounts.map(\.record.username) == [Sample.username])
                #expect(accounts.first?.record.claims == ["department": "Netzleitstelle"])
                let count = try vault.secret(of: try #require(accounts.first).sealed).count
                #expect(count == 0, "an account has no secret")
            }
        }
    }

    @Test("claims of any kind are read back unchanged and quickly", arguments: HostileJSON.all)
    func hostileClaims(kind: HostileJSON) async throws {
        // The maximum length of an ID token's claims.
        guard let claims = JSONObject(json: Array("{\(kind.member(ofBytes: 48_000))}".utf8)) else { return }
        try await withVaultBed { bed in
            var account = Sample.account()
            account.claims = claims
            try await bed.use { [account] in try await $0.store(account) }
            try await bed.use { vault in
                let kept = try vault.loadAll(AccountRecord.self, in: Sample.me)
                // A number beyond JSON's range (1e999) is null from then on.
                #expect(kept.first?.record.claims == JSONObject(json: claims.json))
            }
        }
    }

    @Test("claims of the maximum depth do not make their record too deep")
    func deepClaims() async throws {
        let levels = JSONReader.Bounds.outside.depth - 1
        let deep = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let claims = try #require(JSONObject(json: Array("{\"a\":\(deep)}".utf8)))
        try await withVaultBed { bed in
            var account = Sample.account()
            account.claims = claims
            try await bed.use { [account] in try await $0.store(account) }
            try await bed.use { vault in
                let kept = try vault.loadAll(AccountRecord.self, in: Sample.me)
                #expect(kept.first?.record.claims == claims)
            }
        }
    }

    @Test("sealing writes nothing")
    func sealWritesNothing() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let sealed = try vault.seal(Sample.accessToken(), secret: Secret("t"), in: Sample.me)
                #expect(try vault.accessTokens().isEmpty)
                #expect(try vault.statistics().records == 0)
                #expect(try vault.secret(of: sealed.sealed).revealed() == "t")
            }
        }
    }

    @Test("all users' records are counted, without the audit logs")
    func counts() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                for partition in [Sample.me, Sample.other] {
                    try await vault.store(Sample.accessToken(), secret: "token", in: partition)
                    for number in 1...3 as ClosedRange<Int64> {
                        try await vault.store(
                            AuditBlockRecord(number: number, of: .tokens), in: partition)
                    }
                    try await vault.store(
                        AuditHeadRecord(sequence: 1, isComplete: true, run: "run", ends: [:]), in: partition)
                }
                #expect(try vault.statistics().records == 2)
            }
        }
    }

    @Test("a record replaces one with the same key, and other items of the bucket stay")
    func replaces() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.accessToken(), secret: "first")
                try await vault.store(Sample.accessToken(scopes: ["anderes"]), secret: "other scopes")
                try await vault.store(Sample.accessToken(expiresOn: 1), secret: "second")
                #expect(try vault.accessTokens().sorted() == ["other scopes", "second"])
                #expect(try vault.statistics().records == 2)
            }
        }
    }

    @Test("a bucket contains only its own records and kind")
    func bucketsAreSeparate() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.accessToken("one"), secret: "1")
                try await vault.store(Sample.accessToken("two"), secret: "2")
                try await vault.store(Sample.refreshToken("one"), secret: "r")
                #expect(try vault.accessTokens(of: "one") == ["1"])
                #expect(try vault.accessTokens(of: "two") == ["2"])
                #expect(try vault.accessTokens(of: "three").isEmpty)
                #expect(try vault.loadAll(AccessTokenRecord.self, in: Sample.me).count == 2)
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            }
        }
    }

    @Test("a user does not find another user's records")
    func partitionsAreSeparate() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let mine = try await vault.store(Sample.accessToken(), secret: "mine")
                #expect(try vault.accessTokens(in: Sample.other).isEmpty)
                let theirs = try await vault.store(Sample.accessToken(), secret: "theirs", in: Sample.other)
                #expect(try vault.accessTokens() == ["mine"])
                #expect(try vault.accessTokens(in: Sample.other) == ["theirs"])
                #expect(mine.sealed.rowKey != theirs.sealed.rowKey)
                #expect(mine.sealed.bucketKey != theirs.sealed.bucketKey)

                try await vault.commit(VaultChange(in: Sample.other, deletes: [Sample.accessToken().key]))
                #expect(try vault.accessTokens() == ["mine"])
                #expect(try vault.accessTokens(in: Sample.other).isEmpty)
            }
        }
    }

    @Test("puts and deletes of one change are atomic")
    func changesTogether() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.refreshToken(), secret: "old")
                let token = try vault.seal(Sample.accessToken(), secret: Secret("new"), in: Sample.me)
                try await vault.commit(
                    VaultChange(in: Sample.me, puts: [token.sealed], deletes: [Sample.refreshToken().key]))
                #expect(try vault.accessTokens() == ["new"])
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).isEmpty)
                try await vault.commit(VaultChange(in: Sample.me))
                try await vault.commit(VaultChange(in: Sample.other, deletes: [Sample.accessToken().key]))
                #expect(try vault.accessTokens() == ["new"])
            }
        }
    }

    @Test("a hundred callers can start a partition at once, and read during writes")
    func concurrentUse() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault throws in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            try await vault.store(Sample.accessToken("client-\(number)"), secret: "token \(number)")
                            #expect(try vault.accessTokens(of: "client-\(number)") == ["token \(number)"])
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await bed.use { vault throws in
                for number in 0..<100 { #expect(try vault.accessTokens(of: "client-\(number)") == ["token \(number)"]) }
                #expect(try vault.statistics().records == 100)
                #expect(try vault.statistics().quarantined == 0)
            }
        }
    }

    @Test("secrets of any length up to the limit are read back", arguments: [0, 1, 255, 256, 40_000])
    func lengths(count: Int) async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let text = String(repeating: "x", count: count)
                try await vault.store(Sample.accessToken(), secret: text)
                #expect(try vault.accessTokens() == [text])
                let huge = Secret(String(repeating: "x", count: 9 << 20))
                let error = try await vaultError {
                    _ = try vault.seal(Sample.accessToken(), secret: huge, in: Sample.me)
                }
                #expect(error?.text(of: VaultError.io) != nil)
            }
        }
    }

    @Test("statistics contain path, key source and count")
    func statistics() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.account())
                let expected = VaultStatistics(path: bed.path + "/vault.db", keySource: "key-file", records: 1)
                #expect(try vault.statistics() == expected)
            }
        }
    }

    @Test("a closed vault reports that, and closing twice is harmless")
    func closed() async throws {
        try await withVaultBed { bed in
            let vault = try await bed.open()
            let token = try await vault.store(Sample.accessToken(), secret: "t")
            await vault.close()
            await vault.close()
            let writing = try await vaultError { try await vault.store(Sample.accessToken(), secret: "t") }
            let reading = try await vaultError { _ = try vault.accessTokens() }
            #expect(writing == reading)
            #expect(writing?.description.contains("closed") == true)
            #expect(try vault.secret(of: token.sealed).revealed() == "t", "what is in memory can still be answered")
        }
    }
}
