import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Foundation
import Testing

/// The part of the cache in memory is bounded, and no group takes another's space in it.
@Suite("Bounds of the cache in memory")
struct CacheBoundTests {
    private static func owner(_ person: String, group: String = "app:mail", client: String = "client-1") -> TokenOwner {
        TokenOwner(
            group: GroupID(rawValue: group), clientID: client,
            homeAccountID: HomeAccountID(userID: person, tenantID: "home"), environment: "id.example.org")
    }

    private static func limits(tokens: Int) -> CacheLimits {
        var limits = CacheLimits()
        limits.tokens = tokens
        return limits
    }

    /// Room for two or three owners with a token each.
    private static let narrow = limits(tokens: 4_000)

    @Test("a lookup that finds nothing takes no space")
    func nothing() async throws {
        let bed = try await CacheBed()
        for number in 0..<1_000 {
            let owner = Self.owner("nobody", group: "app:\(number)", client: "client-\(number)")
            let key = bed.key(owner)
            #expect(try bed.index.loadAccounts(of: .init(partition: key.partition, group: owner.group)).isEmpty)
            #expect(try bed.index.loadTokens(of: key).isEmpty)
            let client = ClientKey(
                partition: key.partition, group: owner.group, clientID: owner.clientID, environment: "id.example.org")
            #expect(try bed.index.loadMembership(of: client) == .unknown)
        }
        #expect(bed.index.count == 0)
        // Nor a record that existed once.
        let owner = Self.owner("alice")
        #expect(await bed.write([try bed.row(.accessToken(owner, "home", ["a"]), isPut: true)]))
        #expect(bed.index.count == 1)
        #expect(await bed.write([], deleting: owner))
        #expect(bed.index.count == 0)
    }

    @Test("an app with many accounts evicts only its own from memory, and all are still found")
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

    @Test("the least recently used entries are evicted while idle, unless the disk lacks changes")
    func idle() async throws {
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

    @Test("accounts are evicted while idle as whole groups, the least recently used first")
    func restingAccounts() async throws {
        var idle = CacheLimits()
        idle.accounts = 20_000
        let bed = try await CacheBed(idle: idle)
        let groups = (0..<3).map {
            GroupKey(partition: Sample.partition, group: .init(rawValue: "app:\($0)"))
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
        "a read overtaken by a change never restores the old state, even after that change was evicted"
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
        // A thread of its own, because it is held up.
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

    @Test("changes that the disk lacks are not evicted, and the limit applies again once they are written")
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

    @Test("a record deleted while the disk is full stays deleted and takes no space afterwards")
    func deletedWhileFull() async throws {
        let bed = try await CacheBed()
        let owner = Self.owner("alice")
        #expect(await bed.write([try bed.row(.refreshToken(owner, family: nil, key: nil), isPut: true)]))
        bed.vault.failWriting(.full("no space"))
        #expect(await !bed.write([], deleting: owner))
        #expect(try bed.index.loadTokens(of: bed.key(owner)).isEmpty)
        // Lookups that find nothing meanwhile take no space either.
        for number in 0..<100 { #expect(try bed.index.loadTokens(of: bed.key(Self.owner("nobody-\(number)"))).isEmpty) }
        #expect(bed.index.count == 1)
        bed.vault.failWriting(nil)
        #expect(await bed.writer.flush())
        #expect(bed.index.count == 0)
        #expect(try bed.vault.statistics().records == 0)
    }

    @Test("only the last change of each record waits while the disk is full")
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
        let most = CachedTokens.maximumAccessTokens
        #expect(await bed.write(try (0..<most).map(row)))
        #expect(await bed.write([try row(most), try row(most + 1)]))
        for index in [bed.index, bed.reread()] {
            let kept = try index.loadTokens(of: bed.key(owner)).accessTokens.map(\.stored.record.expiresOn)
            #expect(kept.count == most)
            #expect(kept.min() == Sample.now + 2)
        }
        #expect(try bed.vault.statistics().records == most)
    }

    @Test("a provider that keeps naming new families cannot exceed the limit of refresh tokens per account")
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
            #expect(kept.count == CachedTokens.maximumRefreshTokens && kept.min() == Sample.now + 24)
        }
    }

    @Test("each of many accounts is found by its id and names, as in a linear search", arguments: 1...4)
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
                    let found = known.people(
                        selector, at: Sample.authority("https://id.example.org/\(record.realm)"), otherClouds: [])
                    #expect(!found.isEmpty && found.map(\.account) == expected.map(\.account))
                }
            }
        }
    }
}
