import BrokerModel
import BrokerVault
import Testing

/// The format of a backup on disk, and the results for changed ones (docs/decisions/0010).
@Suite("The format of backups")
struct BackupFormatTests {
    private static let passphrase = Secret("correct horse")

    /// Bytes in memory instead of a file.
    private struct Bytes: BackupSource {
        let all: [UInt8]
        init(_ all: [UInt8]) { self.all = all }
        var count: Int { all.count }
        func bytes(at offset: Int, count: Int) -> [UInt8] { Array(all.dropFirst(offset).prefix(count)) }
    }

    /// A backup of an app and a number of refresh tokens.
    private func backup(_ tokens: Int = 1, secretCount: Int = 30) async throws -> [UInt8] {
        let sealer = try await BackupSealer.begin(with: Self.passphrase, costs: .usual, at: 1_700_000_000)
        try sealer.append(Sample.account(), secret: nil)
        for number in 0..<tokens {
            let secret = Secret(String(repeating: "x", count: secretCount) + "-\(number)")
            try sealer.append(Sample.refreshToken("client-\(number)"), secret: secret)
        }
        try sealer.finish()
        return sealer.take(atMost: .max)
    }

    /// Reads all of it. - Throws: the error at which reading stops.
    private func read(_ backup: any OpenedBackup) throws -> [BackupItem] {
        let reader = try backup.reader()
        var items: [BackupItem] = []
        while let item = try reader.next() { items.append(item) }
        return items
    }

    private func failure(_ bytes: [UInt8], passphrase: Secret = passphrase) async -> BackupError? {
        do throws(BackupError) {
            let reader = try await Bytes(bytes).open(with: passphrase).reader()
            while try reader.next() != nil {}
            return nil
        } catch {
            return error
        }
    }

    /// The start of each chunk, and the end of the last one.
    private func boundaries(_ bytes: [UInt8]) -> [Int] {
        var places = [BackupHeader.count]
        while let place = places.last, place < bytes.count {
            let length = bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            places.append(place + 4 + length)
        }
        return places
    }

    @Test("records come out unchanged and in order, regardless of the number of chunks", arguments: [0, 1, 500])
    func wholeAgain(_ tokens: Int) async throws {
        let bytes = try await backup(tokens, secretCount: 700)
        #expect((boundaries(bytes).count > 3) == (tokens == 500))
        let items = try read(try await Bytes(bytes).open(with: Self.passphrase))
        guard case .beginning(1_700_000_000)? = items.first, case .account(let account)? = items.dropFirst().first
        else {
            Issue.record("the backup begins otherwise")
            return
        }
        #expect(account.username == Sample.username)
        let clients = items.compactMap { item -> String? in
            guard case .refreshToken(let record, let secret) = item,
                secret.revealed().hasSuffix("x-" + record.owner.clientID.dropFirst("client-".count))
            else { return nil }
            return record.owner.clientID
        }
        #expect(clients == (0..<tokens).map { "client-\($0)" })
    }

    @Test("a record that is larger than a chunk gets its own chunk")
    func large() async throws {
        let bytes = try await backup(2, secretCount: 300_000)
        let items = try read(try await Bytes(bytes).open(with: Self.passphrase))
        #expect(items.count == 4)
    }

    @Test("neither content nor owner of a backup can be read")
    func opaque() async throws {
        let text = String(decoding: try await backup(), as: UTF8.self)
        for word in [Sample.username, Sample.issuer, "client-0", "xxxx"] { #expect(!text.contains(word)) }
    }

    @Test("a backup with any changed byte is refused")
    func everyByte() async throws {
        let bytes = try await backup()
        for place in 0..<BackupHeader.count {
            var changed = bytes
            changed[place] ^= 1
            #expect(await failure(changed) != nil, "byte \(place) of the beginning")
        }
        var opened = try await OpenedBackupSource(Bytes(bytes), with: Self.passphrase)
        for place in BackupHeader.count..<bytes.count {
            for change: UInt8 in [0x01, 0x80, 0xff] {
                var changed = bytes
                changed[place] ^= change
                opened.source = Bytes(changed)
                #expect(throws: BackupError.self, "byte \(place)") { try read(opened) }
            }
        }
        opened.source = Bytes(bytes)
        #expect(try read(opened).count == 3)
    }

    @Test("a backup truncated anywhere is refused, and at a chunk's border the end is reported missing")
    func truncated() async throws {
        let bytes = try await backup(300, secretCount: 700)
        let borders = boundaries(bytes)
        #expect(borders.count > 4)
        var opened = try await OpenedBackupSource(Bytes(bytes), with: Self.passphrase)
        var ends = borders.dropLast().flatMap { border -> [Int] in [0, 1, 4, 5].map { border + $0 } }
        ends.append(bytes.count - 1)
        for end in ends {
            opened.source = Bytes(Array(bytes.prefix(end)))
            #expect(throws: BackupError.truncated, "at \(end)") { try read(opened) }
        }
        for end in 0..<BackupHeader.count { #expect(await failure(Array(bytes.prefix(end))) != nil, "at \(end)") }
    }

    @Test("chunks that are swapped, left out, repeated or appended are refused")
    func rearranged() async throws {
        let bytes = try await backup(300, secretCount: 700)
        let borders = boundaries(bytes)
        let head = Array(bytes[..<borders[0]])
        let chunks = zip(borders, borders.dropFirst()).map { Array(bytes[$0..<$1]) }
        let foreign = try await backup(300, secretCount: 700)
        let last = chunks.count - 1
        let orders: [[[UInt8]]] = [
            [chunks[1], chunks[0]] + chunks[2...], [chunks[0]] + chunks[2...], [chunks[0]] + chunks,
            chunks + [chunks[last]],
            chunks + [[0]], [chunks[last]],
            [Array(foreign[boundaries(foreign)[0]..<boundaries(foreign)[1]])] + chunks[1...],
        ]
        for (number, order) in orders.enumerated() {
            #expect(await failure(head + order.flatMap(\.self)) == .damaged, "order \(number)")
        }
    }

    @Test("a file that is not a backup, a later version's and a damaged one give different errors")
    func foreign() async throws {
        let bytes = try await backup()
        for foreign in [
            [], Array("SQLite format 3\u{0}".utf8), [UInt8](repeating: 0, count: 4096), Array(bytes.dropFirst()),
        ] {
            #expect(await failure(foreign) == .notABackup)
        }
        var later = bytes
        later[16] = 2
        #expect(await failure(later) == .newerFormat(found: 2, supported: 1))
    }

    @Test("a wrong passphrase does not open a backup, and a short one is refused for a new one")
    func passphrases() async throws {
        let bytes = try await backup()
        for wrong in ["Correct horse", "correct hors", "correct horse ", ""] {
            #expect(await failure(bytes, passphrase: Secret(wrong)) == .wrongPassphrase)
        }
        await #expect(throws: BackupError.shortPassphrase(atLeast: 8)) {
            try await BackupSealer.begin(with: Secret("1234567"), at: 0)
        }
    }

    @Test("a header with excessive memory or time costs is refused without deriving the key")
    func greedy() async throws {
        let bytes = try await backup()
        // Magic, version, a byte for the parameters' version, then passes and memory.
        for (place, value) in [(21, 0xff), (24, 0xff), (28, 0xff), (28, 0x7f), (28, 0x10), (21, 0x00), (28, 0x00)]
            as [(Int, UInt8)]
        {
            var greedy = bytes
            greedy[place] = value
            let error = await failure(greedy)
            #expect(error != nil && error != .wrongPassphrase, "byte \(place)")
        }
    }

    @Test("a chunk with a huge length is refused before memory is allocated")
    func hugeChunk() async throws {
        var bytes = try await backup()
        bytes.replaceSubrange(BackupHeader.count..<BackupHeader.count + 4, with: [0xff, 0xff, 0xff, 0xff])
        #expect(await failure(bytes) == .damaged)
    }

    @Test("a backup of an earlier version of the broker is read")
    func earlierVersion() async throws {
        let bytes = try #require(Base64.decodeLeniently(BackupFixture.version1.utf8))
        let items = try read(try await Bytes(bytes).open(with: Self.passphrase))
        var found: [String] = []
        for item in items {
            switch item {
            case .beginning(let time): found.append("beginning \(time > 1_700_000_000)")
            case .app(let app, let secret): found.append("app \(app.name) \(secret?.revealed() ?? "-")")
            case .account(let account): found.append("account \(account.username)")
            case .signOut(let signOut): found.append("sign-out \(signOut.app)")
            case .appMetadata(let client): found.append("client \(client.clientID) \(client.familyID ?? "-")")
            case .refreshToken(_, let secret), .idToken(_, let secret): found.append("token \(secret.revealed())")
            case .proofKey: found.append("key")
            case .unknown: found.append("unknown")
            }
        }
        #expect(
            Set(found) == [
                "beginning true", "app mail -", "app agenda -", "app notes hush-hush", "account ada@example.org",
                "sign-out app:agenda", "client c-1 1", "token rt-secret-1", "token rt-family-1", "token idt.secret.1",
            ])
        #expect(found.count == 10)
    }
}
