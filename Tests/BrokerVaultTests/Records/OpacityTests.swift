import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("The files reveal nothing")
struct OpacityTests {
    /// Personal data, and pieces of it.
    static let words = [
        Sample.username, "quandt", "Friederike", "stadtwerke", "Netzleitstelle", Sample.clientID, "kalender",
        Sample.issuer, "mandant", "buerowerkzeug", Sample.refreshToken, "zugangs-merkmal", "Qx7-Qx7-", "Bearer",
        "geheimes-kennwort", "gemeinsame-anwendung", "/opt/anwendung", "quandt-4711", "lieblings-app", "accessToken",
    ]

    private func store(in vault: Vault) async throws {
        try await vault.store(Sample.accessToken(), secret: Sample.accessToken)
        try await vault.store(Sample.refreshToken(), secret: Sample.refreshToken)
        try await vault.store(Sample.account())
        try await vault.store(
            IDTokenRecord(owner: Sample.owner(), realm: "mandant", cachedAt: 1), secret: Sample.accessToken)
        let app = AppRegistration(
            name: "lieblings-app", clientID: Sample.clientID,
            authority: try Authority(parsing: Sample.issuer, allowHTTPLoopback: false), group: "buerowerkzeug",
            executables: ["/opt/anwendung"], clientSecret: Secret("geheimes-kennwort"))
        try await vault.store(AppRecord(app), secret: "geheimes-kennwort")
    }

    private func search(_ bed: VaultBed) throws {
        let contents = try bed.contents()
        for (name, bytes) in contents {
            for word in Self.words {
                for text in [word, word.uppercased(), word.replacingOccurrences(of: "/", with: "\\/")] {
                    #expect(!name.contains(text))
                    #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) is in \(name)")
                }
                #expect(bytes.range(of: Data(Data(word.utf8).base64EncodedString().dropLast(4).utf8)) == nil)
                #expect(bytes.range(of: try #require(word.data(using: .utf16LittleEndian))) == nil)
            }
        }
        // Proves that the search works.
        #expect(contents["vault.db"]?.range(of: Data("key-file".utf8)) != nil)
    }

    @Test("no name, client, scope, issuer or token is in the file, its log, its index or the names")
    func noWords() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await store(in: vault)
                #expect(try bed.bytes("vault.db-wal").count > 4096, "the log is what holds the records now")
                #expect(try !bed.contents().keys.contains("vault.db-shm"), "the index is in memory")
                try search(bed)
                try await vault.checkpoint()
                try search(bed)
            }
            try search(bed)
        }
    }

    @Test("the journal reports damage without naming its owner")
    func quietLog() async throws {
        try await withVaultBed { bed in
            try await bed.use { try await store(in: $0) }
            try edit(bed.file("vault.db"), "UPDATE record SET box = zeroblob(100)")
            try await bed.use { vault throws in
                #expect(try vault.accessTokens().isEmpty)
                #expect(try vault.loadAll(AccountRecord.self, in: Sample.me).isEmpty)
            }
            #expect(bed.log.text.contains("damaged"))
            for word in Self.words where word != "accessToken" { #expect(!bed.log.text.contains(word)) }
        }
    }

    @Test("replaced and deleted records are nowhere in the files after a checkpoint")
    func overwritten() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let replaced = try await vault.store(Sample.refreshToken(), secret: "first")
                let deleted = try await vault.store(Sample.accessToken(), secret: Sample.accessToken)
                try await vault.checkpoint()
                func isPresent(_ sealed: SealedRecord) throws -> Bool {
                    try bed.contents().values.contains { $0.range(of: Data(sealed.box.suffix(64))) != nil }
                }
                #expect(try isPresent(replaced.sealed))
                #expect(try isPresent(deleted.sealed))
                let kept = try await vault.store(Sample.refreshToken(), secret: "second")
                try await vault.commit(VaultChange(in: Sample.me, deletes: [Sample.accessToken().key]))
                try await vault.checkpoint()
                #expect(try isPresent(kept.sealed))
                #expect(try !isPresent(replaced.sealed))
                #expect(try !isPresent(deleted.sealed))
                #expect(try bed.bytes("vault.db-wal").isEmpty)
            }
        }
    }

    @Test("the log is moved after an idle time without writes")
    func tidiesWhenIdle() async throws {
        try await withVaultBed { bed in
            let vault = try await bed.open(tidyingAfter: .milliseconds(50))
            try await vault.store(Sample.refreshToken(), secret: "r")
            try await eventually("the log is empty") { try bed.bytes("vault.db-wal").isEmpty }
            #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            await vault.close()
        }
    }

    @Test("the log stays bounded under constant writing")
    func boundedLog() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                var longest = 0
                for number in 0..<1_200 {
                    try await vault.store(Sample.refreshToken(), secret: "value \(number)")
                    longest = max(longest, try bed.bytes("vault.db-wal").count)
                }
                #expect(longest < 16 << 20)
                #expect(try bed.bytes("vault.db-wal").count < longest)
            }
        }
    }

    @Test("tokens of similar length have boxes of the same length")
    func padding() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let counts = try Set(
                    (0..<1_000).map { extra in
                        let secret = Secret(String(repeating: "t", count: 1_000 + extra))
                        return try vault.seal(Sample.refreshToken(), secret: secret, in: Sample.me).sealed.box.count
                    })
                #expect(counts.count <= 5)
            }
        }
    }

    @Test("the same record is sealed differently each time, and named differently in each vault")
    func freshNonces() async throws {
        try await withTestBed { testBed in
            let here = VaultBed(testBed)
            try await here.use { vault in
                let first = try vault.seal(Sample.refreshToken(), secret: Secret("r"), in: Sample.me).sealed
                let second = try vault.seal(Sample.refreshToken(), secret: Secret("r"), in: Sample.me).sealed
                #expect(first.rowKey == second.rowKey)
                #expect(first.box.prefix(24) != second.box.prefix(24))
                #expect(first.box.dropFirst(24) != second.box.dropFirst(24))
                try await withVaultBed { elsewhere in
                    try await elsewhere.use { other in
                        let third = try other.seal(Sample.refreshToken(), secret: Secret("r"), in: Sample.me).sealed
                        #expect(third.rowKey != first.rowKey)
                        #expect(third.bucketKey != first.bucketKey)
                    }
                }
            }
        }
    }
}
