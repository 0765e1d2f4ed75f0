import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

/// Memory equals the disk: after any changes, an index that saw all of them and one that reads the same vault anew hold the same.
@Suite("Changes of the cache")
struct CacheChangeTests {
    private static let owners = ["client-1", "client-2", ""].flatMap { client in
        ["alice", "bob"].map { person in
            TokenOwner(
                group: Sample.app().effectiveGroup, clientID: client,
                homeAccountID: HomeAccountID(userID: person, tenantID: "home"), environment: "id.example.org")
        }
    }

    /// One record of each kind.
    private static let drafts: [Draft] = {
        let owner = owners[0]
        return [
            .account(owner, "home"), .signOut(owner, app: "app:mail"), .appMetadata(owner, family: "1"),
            .accessToken(owner, "home", ["a"]), .refreshToken(owner, family: nil, key: nil), .idToken(owner, "home"),
            .proofKey(owner, "thumbprint-1"),
        ]
    }()

    @Test("a record put is in memory and on disk, and a deleted one is in neither, for every kind", arguments: drafts)
    func everyKind(_ draft: Draft) async throws {
        let bed = try await CacheBed()
        let empty = try bed.contents(of: bed.index)
        let put = try bed.row(draft, isPut: true)
        #expect(await bed.write([put]))
        let filled = try bed.contents(of: bed.index)
        #expect(filled != empty)
        #expect(try bed.contents(of: bed.reread()) == filled)
        #expect(try bed.vault.statistics().records == 1)
        #expect(await bed.write([try bed.row(draft, isPut: false)]))
        #expect(try bed.contents(of: bed.index) == empty)
        #expect(try bed.contents(of: bed.reread()) == empty)
        #expect(try bed.vault.statistics().records == 0)
    }

    @Test("the samples cover every kind that has a case")
    func allKinds() throws {
        let kinds: [RecordKind] = Self.drafts.map { draft in
            switch draft {
            case .account: RecordKind.account
            case .signOut: RecordKind.signOut
            case .appMetadata: RecordKind.appMetadata
            case .accessToken: RecordKind.accessToken
            case .refreshToken: RecordKind.refreshToken
            case .idToken: RecordKind.idToken
            case .proofKey: RecordKind.proofKey
            }
        }
        // Registrations, grants, the audit log and documents of providers are not part of the index.
        #expect(
            Set(kinds)
                == Set(RecordKind.allCases).subtracting([
                    .app, .grant, .auditBlock, .auditHead, .providerDocument, .partitionOwner,
                ]))
    }

    @Test("memory equals what is read from the same disk after any changes", arguments: 1...12)
    func generated(seed: UInt64) async throws {
        let bed = try await CacheBed()
        var random = SeededRandom(seed)
        for step in 0..<60 {
            // Now and then the disk refuses, and takes the waiting changes with a later one.
            let isFull = random.below(6) == 0
            bed.vault.failWriting(isFull ? .full("no space") : nil)
            var rows: [CacheChange.Row] = []
            for _ in 0...random.below(4) {
                rows.append(try bed.row(Draft.random(owners: Self.owners, &random), isPut: random.below(3) > 0))
            }
            let wholeOwner = random.below(8) == 0 ? Self.owners[random.below(Self.owners.count)] : nil
            #expect(await bed.write(rows, deleting: wholeOwner) == !isFull)
            if isFull { continue }
            #expect(
                try bed.contents(of: bed.index) == bed.contents(of: bed.reread()), "seed \(seed), step \(step)")
        }
        bed.vault.failWriting(nil)
        #expect(await bed.writer.flush())
        #expect(try bed.contents(of: bed.index) == bed.contents(of: bed.reread()))
    }

    @Test("the last change of a record counts, on disk and in memory")
    func lastWord() async throws {
        let bed = try await CacheBed()
        let draft = Self.drafts[4]
        let (put, delete) = (try bed.row(draft, isPut: true), try bed.row(draft, isPut: false))
        #expect(await bed.write([put, delete]))
        #expect(try bed.index.loadTokens(of: bed.key(Self.owners[0])).refreshTokens.isEmpty)
        #expect(try bed.vault.statistics().records == 0)
        #expect(await bed.write([delete, put]))
        #expect(try bed.index.loadTokens(of: bed.key(Self.owners[0])).refreshTokens.count == 1)
        #expect(try bed.vault.statistics().records == 1)
    }

    @Test("an owner is deleted in its state at that time, including an earlier change in the queue")
    func wholeOwner() async throws {
        let bed = try await CacheBed()
        let owner = Self.owners[0]
        let rows = try Self.drafts[3...].map { try bed.row($0, isPut: true) }
        async let first = bed.write(Array(rows[..<2]))
        async let second = bed.write(Array(rows[2...]))
        _ = await (first, second)
        #expect(await bed.write([], deleting: owner))
        #expect(try bed.index.loadTokens(of: bed.key(owner)).count == 0)
        #expect(try bed.vault.statistics().records == 0)
    }

    @Test("records affected by a change are read before it applies if the index lacks them")
    func lazily() async throws {
        var limits = CacheLimits()
        (limits.accounts, limits.tokens) = (0, 0)
        let bed = try await CacheBed(limits)
        let owner = Self.owners[0]
        #expect(await bed.write([try bed.row(.accessToken(owner, "home", ["a"]), isPut: true)]))
        #expect(bed.index.tokens(of: bed.key(owner)) == nil)
        #expect(await bed.write([try bed.row(.accessToken(owner, "home", ["b"]), isPut: true)]))
        #expect(try bed.contents(of: bed.index) == bed.contents(of: bed.reread()))
        #expect(try bed.index.loadTokens(of: bed.key(owner)).accessTokens.count == 2)
    }
}

/// A record yet to be sealed.
enum Draft: Sendable {
    case account(TokenOwner, _ realm: String)
    case signOut(TokenOwner, app: String)
    case appMetadata(TokenOwner, family: String?)
    case accessToken(TokenOwner, _ realm: String, _ scopes: [String])
    case refreshToken(TokenOwner, family: String?, key: String?)
    case idToken(TokenOwner, _ realm: String)
    case proofKey(TokenOwner, _ thumbprint: String)

    static func random(owners: [TokenOwner], _ random: inout SeededRandom) -> Draft {
        let owner = owners[random.below(owners.count)]
        let realm = ["home", "guest"][random.below(2)]
        return switch random.below(7) {
        case 0: .account(owner, realm)
        case 1: .signOut(owner, app: "app:\(random.below(2))")
        case 2: .appMetadata(owner, family: [nil, "1"][random.below(2)])
        case 3: .accessToken(owner, realm, [["a"], ["B", "c"], ["d"]][random.below(3)])
        case 4:
            .refreshToken(
                owner, family: [nil, "1", "2"][random.below(3)], key: [nil, "thumbprint-1"][random.below(2)])
        case 5: .idToken(owner, realm)
        default: .proofKey(owner, "thumbprint-\(random.below(2))")
        }
    }
}

/// The same numbers for the same seed (Numerical Recipes' linear congruence; the high bits are the better ones).
struct SeededRandom: Sendable {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
