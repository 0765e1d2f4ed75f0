import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// What of the cache is in memory has a bound, and nobody takes another's place in it.
@Suite("Bounds of the cache in memory")
struct CacheBoundTests {
    private static func owner(_ person: String, group: String = "app:mail", client: String = "client-1") -> TokenOwner {
        TokenOwner(
            group: GroupID(rawValue: group), clientID: client,
            homeAccountID: HomeAccountID(userID: person, tenantID: "home"), environment: "id.example.org")
    }

    private static func limits(tokens: Int) -> CacheIndex.Limits {
        var limits = CacheIndex.Limits()
        limits.tokens = tokens
        return limits
    }

    /// Room for two or three owners with a token each.
    private static let narrow = limits(tokens: 4_000)

    @Test("whatever is asked for and not there takes no place")
    func nothing() async throws {
        let bed = try await CacheBed()
        for number in 0..<1_000 {
            let owner = Self.owner("nobody", group: "app:\(number)", client: "client-\(number)")
            let key = bed.key(owner)
            #expect(try bed.index.loadAccounts(of: .init(partition: key.partition, group: owner.group)).isEmpty)
            #expect(try bed.index.loadTokens(of: key).isEmpty)
            let client = CacheIndex.ClientKey(
                partition: key.partition, group: owner.group, clientID: owner.clientID, environment: "id.example.org")
            #expect(try bed.index.loadMembership(of: client) == .unknown)
        }
        #expect(bed.index.count == 0)
        // Nor what was there once.
        let owner = Self.owner("alice")
        #expect(await bed.write([try bed.row(.accessToken(owner, "home", ["a"]), isPut: true)]))
        #expect(bed.index.count == 1)
        #expect(await bed.write([], deleting: owner))
        #expect(bed.index.count == 0)
    }

    @Test("an app with ever more accounts drops its own from memory, not a neighbour's; all of it is still found")
    func neighbours() async throws {
        let bed = try await CacheBed(Self.limits(tokens: 20_000))
        let mine = Self.owner("alice", group: "app:mine")
        #expect(await bed.write([try bed.row(.accessToken(mine, "home", ["a"]), isPut: true)]))
        let theirs = (0..<60).map { Self.owner("person-\($0)", group: "app:greedy") }
        for owner in theirs {
            #expect(await bed.write([try bed.row(.accessToken(owner, "home", ["a"]), isPut: true)]))
        }
        for owner in theirs { #expect(try bed.index.loadTokens(of: bed.key(owner)).count == 1) }
        #expect(bed.index.tokens(of: bed.key(mine)) != nil)
        #expect(bed.index.tokens(of: bed.key(theirs[0])) == nil)
        #expect(bed.index.count < 30)
    }

    @Test("while nothing is asked for, what was not used for longest goes, unless the disk lacks something")
    func resting() async throws {
        let bed = try await CacheBed(idle: Self.limits(tokens: 20_000))
        let owners = (0..<60).map { Self.owner("person-\($0)") }
        for owner in owners {
            #expect(await bed.write([try bed.row(.accessToken(owner, "home", ["a"]), isPut: true)]))
        }
        #expect(bed.index.count == 60, "nothing goes while it is used")
        #expect(bed.index.tokens(of: bed.key(owners[0])) != nil)
        bed.vault.failWriting(.full("no space"))
        #expect(await !bed.write([try bed.row(.accessToken(owners[1], "home", ["b"]), isPut: true)]))
        bed.index.trim()
        #expect(bed.index.count == 60, "the disk lacks something")
        bed.vault.failWriting(nil)
        #expect(await bed.write([try bed.row(.accessToken(owners[2], "home", ["c"]), isPut: true)]))
        bed.index.trim()
        #expect((1..<30).contains(bed.index.count))
        #expect(bed.index.tokens(of: bed.key(owners[0])) != nil, "it was used after the others")
        #expect(bed.index.tokens(of: bed.key(owners[3])) == nil)
        for owner in owners { #expect(try bed.index.loadTokens(of: bed.key(owner)).count >= 1) }
    }

    @Test("accounts rest as tokens do, a group whole; of equal ones the one that was used last stays")
    func restingAccounts() async throws {
        var idle = CacheIndex.Limits()
        resting.accounts = 20_000
        let bed = try await CacheBed(idle: resting)
        let groups = (0..<3).map {
            CacheIndex.GroupKey(partition: Sample.partition, group: .init(rawValue: "app:\($0)"))
        }
        for group in groups {
            for number in 0..<10 {
                let owner = Self.owner("person-\(number)", group: group.group.rawValue)
                #expect(await bed.write([try bed.row(.account(owner, "home"), isPut: true)]))
            }
        }
        #expect(groups.allSatisfy { bed.index.accounts(of: $0) != nil })
        bed.index.trim()
        let stayed = groups.map { bed.index.accounts(of: $0) != nil }
        #expect(stayed == [false, false, true])
        for group in groups { #expect(try bed.index.loadAccounts(of: group).entries.count == 10) }
    }

    @Test(
        "a read that a change has overtaken does not bring back what was before, even when the change left memory again"
    )
    func overtakenRead() async throws {
        let bed = try await CacheBed(Self.narrow)
        let (alice, others) = (Self.owner("alice"), (0..<4).map { Self.owner("other-\($0)") })
        #expect(await bed.write([try bed.row(.refreshToken(alice, family: nil, key: nil), isPut: true)]))
        for owner in others { #expect(await bed.write([try bed.row(.accessToken(owner, "home", ["a"]), isPut: true)])) }
        #expect(bed.index.tokens(of: bed.key(alice)) == nil)
        let (hasRead, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        bed.vault.afterNextLoad(of: .refreshToken) {
            hasRead.signal()
            mayGoOn.wait()
        }
        // A thread of its own: it is held up.
        async let read: [UInt8]? = withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: try? bed.index.loadTokens(of: bed.key(alice)).refreshTokens.first?.sealed.box)
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                hasRead.wait()
                continuation.resume()
            }
        }
        let rotated = try bed.row(.refreshToken(alice, family: nil, key: nil), isPut: true)
        #expect(await bed.write([rotated]))
        for owner in others { #expect(try bed.index.loadTokens(of: bed.key(owner)).count == 1) }
        #expect(bed.index.tokens(of: bed.key(alice)) == nil)
        mayGoOn.signal()
        let onDisk = try bed.reread().loadTokens(of: bed.key(alice)).refreshTokens.first?.sealed.box
        #expect(await read == onDisk)
        #expect(try bed.index.loadTokens(of: bed.key(alice)).refreshTokens.first?.sealed.box == onDisk)
    }

    @Test("what the disk lacks is not dropped from memory; once it is written, the bound holds again")
    func diskFull() async throws {
        let bed = try await CacheBed(Self.narrow)
        bed.vault.failWriting(.full("no space"))
        let owners = (0..<30).map { Self.owner("person-\($0)") }
        for owner in owners {
            #expect(await !bed.write([try bed.row(.refreshToken(owner, family: nil, key: nil), isPut: true)]))
        }
        for owner in owners { #expect(bed.index.tokens(of: bed.key(owner))?.count == 1) }
        bed.vault.failWriting(nil)
        #expect(await bed.writer.flush())
        #expect(bed.index.count < 5)
        for owner in owners { #expect(try bed.index.loadTokens(of: bed.key(owner)).count == 1) }
    }

    @Test("what was deleted while the disk is full stays deleted, and takes no place afterwards")
    func deletedWhileFull() async throws {
        let bed = try await CacheBed()
        let owner = Self.owner("alice")
        #expect(await bed.write([try bed.row(.refreshToken(owner, family: nil, key: nil), isPut: true)]))
        bed.vault.failWriting(.full("no space"))
        #expect(await !bed.write([], deleting: owner))
        #expect(try bed.index.loadTokens(of: bed.key(owner)).isEmpty)
        // Who is asked about in vain meanwhile takes no place either.
        for number in 0..<100 { #expect(try bed.index.loadTokens(of: bed.key(Self.owner("nobody-\(number)"))).isEmpty) }
        #expect(bed.index.count == 1)
        bed.vault.failWriting(nil)
        #expect(await bed.writer.flush())
        #expect(bed.index.count == 0)
        #expect(try bed.vault.statistics().records == 0)
    }

    @Test("however often a record changes while the disk is full, its last word alone waits")
    func backlog() async throws {
        let bed = try await CacheBed()
        bed.vault.failWriting(.full("no space"))
        let owner = Self.owner("alice")
        for _ in 0..<50 {
            #expect(await !bed.write([try bed.row(.refreshToken(owner, family: nil, key: nil), isPut: true)]))
            #expect(await !bed.write([try bed.row(.accessToken(owner, "home", ["a"]), isPut: true)]))
        }
        bed.vault.failWriting(nil)
        #expect(await bed.writer.flush())
        #expect(bed.vault.rowsOfLastCommit == 2)
        #expect(try bed.contents(of: bed.index) == bed.contents(of: bed.reread()))
    }

    @Test("an account with too many access tokens loses the one that ends first, in memory and on disk")
    func accessTokens() async throws {
        let bed = try await CacheBed()
        let owner = Self.owner("alice")
        func row(_ number: Int) throws -> CacheChange.Row {
            let record = AccessTokenRecord(
                owner: owner, realm: "home", scopes: ["scope-\(number)"], tokenType: .bearer,
                authority: "https://id.example.org", expiresOn: Sample.now + Int64(number), cachedAt: Sample.now)
            return .accessToken(.put(try bed.vault.seal(record, secret: Secret("t"), in: Sample.partition)))
        }
        let most = CachedTokens.mostAccessTokens
        #expect(await bed.write(try (0..<most).map(row)))
        #expect(await bed.write([try row(most), try row(most + 1)]))
        for index in [bed.index, bed.reread()] {
            let kept = try index.loadTokens(of: bed.key(owner)).accessTokens.map(\.stored.record.expiresOn)
            #expect(kept.count == most)
            #expect(kept.min() == Sample.now + 2)
        }
        #expect(try bed.vault.statistics().records == most)
    }

    @Test("a provider that names ever new families makes no account's refresh tokens more than a few")
    func families() async throws {
        let bed = try await CacheBed()
        let owner = Self.owner("alice").ofFamilies
        func row(_ number: Int) throws -> CacheChange.Row {
            let record = RefreshTokenRecord(
                owner: owner, familyID: "family-\(number)", authority: "https://id.example.org", scopes: [],
                cachedAt: Sample.now + Int64(number))
            return .refreshToken(.put(try bed.vault.seal(record, secret: Secret("t"), in: Sample.partition)))
        }
        for number in 0..<40 { #expect(await bed.write([try row(number)])) }
        for index in [bed.index, bed.reread()] {
            let kept = try index.loadTokens(of: bed.key(owner)).refreshTokens.map(\.record.cachedAt)
            #expect(kept.count == CachedTokens.mostRefreshTokens && kept.min() == Sample.now + 24)
        }
    }

    @Test("of many accounts, each is found by its id and its names, as in a walk through all", arguments: 1...4)
    func lookup(seed: UInt64) async throws {
        let bed = try await CacheBed()
        var random = SeededRandom(seed)
        let app = Sample.app()
        for _ in 0..<150 {
            let owner = Self.owner("person-\(random.below(20))")
            let draft: Draft =
                random.below(4) == 0
                ? .signOut(owner, app: app.identity) : .account(owner, ["home", "guest"][random.below(2)])
            #expect(await bed.write([try bed.row(draft, isPut: random.below(3) > 0)]))
            let known = try bed.index.loadAccounts(of: .init(partition: Sample.partition, group: app.effectiveGroup))
            let primaries = known.entries.filter(\.isPrimary)
            for entry in primaries {
                let record = entry.stored.record
                for selector in [.username(record.username.uppercased()), AccountReference.id(entry.account.id)] {
                    let expected = primaries.filter { $0.stored.record.realm == record.realm && $0.matches(selector) }
                    let isSignedIn = expected.contains { known.isSignedIn($0, for: app) }
                    switch AccountChoice.choose(
                        selector, from: known, for: app,
                        at: Sample.authority("https://id.example.org/\(record.realm)"))
                    {
                    case .account(let found): #expect(isSignedIn && found.account == entry.account)
                    case .signedOut(let accounts): #expect(!isSignedIn && accounts == expected.map(\.account))
                    default: Issue.record("\(selector) was not found")
                    }
                }
            }
        }
    }
}
