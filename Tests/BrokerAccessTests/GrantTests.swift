import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Grants: requested, approved, used, revoked")
struct GrantTests {
    private static let partition = AccessBed.partition

    private typealias Scene = GrantScene

    private static func token(_ scopes: String..., of account: AccountReference? = nil) -> AppReach {
        .token(scopes: scopes, account: account)
    }

    @Test("a refused caller learns how to be approved, and is admitted after the approval")
    func asked() async throws {
        let scene = try await Scene()
        let error = try #require(scene.refusal())
        let request = try #require(error.details.grantRequest)
        #expect(error.details.app == "mail" && error.details.caller == "flatpak:org.example.Game")
        #expect(error.message.contains("brokerctl grants approve \(request)"))
        let listed = try scene.bed.grants.list(in: Self.partition)
        #expect(listed.requests.map(\.id) == [request] && listed.grants.isEmpty)
        #expect(listed.requests.first?.facts["rootMount"] == "other")
        let grant = try await scene.bed.grants.approve(request: request, .init(), in: Self.partition)
        #expect(
            grant.caller == CallerIdentity(tier: .sandboxed, id: "flatpak:org.example.Game") && grant.expiresOn == nil)
        #expect(scene.refusal() == nil)
        #expect(try scene.bed.grants.list(in: Self.partition).requests.isEmpty)
    }

    @Test("a grant of an earlier version covers its account by both of its ids")
    func earlierAccountID() async throws {
        let scene = try await Scene()
        let (person, place) = (HomeAccountID(subject: "ann", issuer: "https://id.example.org"), "id.example.org")
        let record = AccountRecord(
            group: scene.app.effectiveGroup, homeAccountID: person, environment: place, realm: "",
            authority: "https://id.example.org", username: "ann", createdAt: 1)
        let vault = scene.bed.vault
        try await vault.commit(
            VaultChange(
                in: Self.partition, puts: [try vault.seal(record, secret: nil, in: Self.partition).sealed]))
        let earlier = person.earlierAccountID(in: Self.partition, environment: place)
        let id = try vault.accountID(of: person, at: place, in: Self.partition)
        _ = try await scene.approve(.init(accountID: earlier, scopes: ["read"]), Self.token("read"))
        let reopened = try await scene.bed.reopenedGrants()
        let grants = try reopened.list(in: Self.partition).grants
        #expect(grants.map(\.accountID) == [id])
        let other = try await Scene()
        try await other.bed.vault.commit(
            VaultChange(
                in: Self.partition, puts: [try other.bed.vault.seal(record, secret: nil, in: Self.partition).sealed]))
        let now = try other.bed.vault.accountID(of: person, at: place, in: Self.partition)
        #expect(now != id)
        // A request with the earlier id is granted for the current one, and admitted by both.
        let grant = try await other.approve(.init(), Self.token("read", of: .id(earlier)))
        #expect(grant.accountID == now)
        for account in [earlier, now] { #expect(other.refusal(Self.token("read", of: .id(account))) == nil) }
        #expect(other.refusal(Self.token("read", of: .id(String(repeating: "0", count: 32)))) != nil)
    }

    @Test("no grant in a restored vault counts, as it may have been revoked since")
    func rolledBack() async throws {
        let scene = try await Scene()
        _ = try await scene.approve()
        #expect(scene.refusal() == nil)
        scene.bed.vault.rollBack()
        let error = try #require(scene.refusal())
        #expect(error.kind == .accessDenied && error.reason == .vaultRolledBack)
        #expect(error.message.contains("brokerctl cache accept-restore"))
        try await scene.bed.vault.acceptState(of: Self.partition)
        #expect(scene.refusal() == nil)
    }

    @Test("a grant is for one caller and one app")
    func others() async throws {
        let scene = try await Scene()
        try await scene.bed.directory.register(AccessBed.app("notes"), in: Self.partition)
        _ = try await scene.approve()
        let other = try scene.bed.caller {
            $0.rootMount = .other
            $0.attestedName = "flatpak:org.example.Other"
        }
        #expect(scene.refusal(of: other)?.kind == .grantRequired)
        #expect(scene.refusal(app: "notes")?.kind == .grantRequired)
    }

    @Test("a caller has one request per app, and asking for more replaces it by one for everything")
    func coalesced() async throws {
        let scene = try await Scene()
        try await scene.bed.directory.register(AccessBed.app("notes"), in: Self.partition)
        let first = try scene.request(Self.token("read"))
        #expect(try scene.request(Self.token("email", "READ")) == first)
        let second = try scene.request(Self.token("write"))
        #expect(try scene.bed.grants.list(in: Self.partition).requests.map(\.scopes) == [["read", "write"]])
        // A person must not agree to more than they have read.
        await #expect(throws: BrokerError.self) {
            try await scene.bed.grants.approve(request: first, .init(), in: Self.partition)
        }
        #expect(try scene.request(app: "notes") != second)
        #expect(try scene.request(.everything) != second)
        let all = try scene.bed.grants.list(in: Self.partition).requests
        #expect(all.map(\.app) == ["notes", "mail"] && all.map(\.scopes) == [nil, nil])
    }

    @Test("a request of an unregistered client shows its authority, and is refused if it cannot")
    func client() async throws {
        let scene = try await Scene()
        func refusal(_ clientID: String, _ authority: String = "https://id.example.org/realm") -> BrokerError? {
            do throws(BrokerError) {
                _ = try scene.bed.policy.admit(
                    scene.caller, as: .adHoc(clientID: clientID, authority: authority), reaching: Self.token("read"))
                return nil
            } catch { return error }
        }
        #expect(refusal("notes")?.kind == .grantRequired)
        let request = try scene.bed.grants.list(in: Self.partition).requests.first
        #expect(request?.clientID == "notes" && request?.authority == "https://id.example.org/realm")
        #expect(refusal(String(repeating: "x", count: QuestionLimits.clientID))?.kind == .grantRequired)
        for (client, authority) in [
            (String(repeating: "x", count: QuestionLimits.clientID + 1), "https://id.example.org"),
            ("no\u{200D}tes", "https://id.example.org"), ("notes\u{3164}", "https://id.example.org"),
            ("notes", "https://id.example.org/" + String(repeating: "x", count: QuestionLimits.authority)),
        ] {
            #expect(refusal(client, authority)?.kind == .invalidParameter)
        }
    }

    @Test("a grant for some scopes covers these, and those that identify the person")
    func scopes() async throws {
        let scene = try await Scene()
        let grant = try await scene.approve(.init(), Self.token("read"))
        #expect(grant.scopes == ["read"])
        #expect(scene.refusal(Self.token("READ", "email")) == nil)
        #expect(scene.refusal(Self.token("read", "write"))?.kind == .grantRequired)
    }

    @Test("a grant for an account covers requests that name it, and those that leave the account open")
    func account() async throws {
        let scene = try await Scene()
        _ = try await scene.approve(.init(accountID: "ann"), .everything)
        #expect(scene.refusal(Self.token("read", of: .id("ann"))) == nil)
        #expect(scene.refusal(Self.token("read")) == nil)
        #expect(scene.refusal(.account(.id("ann"))) == nil)
        for reach in [
            Self.token("read", of: .id("bob")), Self.token("read", of: .username("ann")), .account(nil), .everything,
        ] {
            #expect(scene.refusal(reach)?.kind == .grantRequired, "\(reach)")
        }
    }

    @Test("the grant that admitted a request limits its answer")
    func inUse() async throws {
        let scene = try await Scene()
        _ = try await scene.approve(.init(accountID: "ann", scopes: ["read"]))
        let admitted = try scene.bed.policy.admit(
            scene.caller, as: .registered("mail"), reaching: Self.token("read"))
        let grant = try #require(admitted.grant)
        #expect(grant.covers(accountID: "ann", scopes: ["Read", "openid", "profile"]))
        #expect(!grant.covers(accountID: "bob", scopes: ["read"]))
        #expect(!grant.covers(accountID: "ann", scopes: ["read", "write"]))
    }

    @Test("a grant ends with its time, and setting the clock back does not revive it")
    func lifetime() async throws {
        let scene = try await Scene()
        let grant = try await scene.approve(.init(lifetime: 60))
        #expect(grant.expiresOn == scene.bed.clock.now + 60)
        #expect(scene.refusal() == nil)
        scene.bed.clock.advance(bySeconds: 60)
        #expect(scene.refusal()?.kind == .grantRequired)
        #expect(try scene.bed.grants.list(in: Self.partition).grants.isEmpty)
        scene.bed.clock.setWallClock(bySeconds: -3600)
        #expect(scene.refusal()?.kind == .grantRequired)
    }

    @Test("a grant to a sandbox without a confirmed name lasts half a day at most")
    func unnamed() async throws {
        let scene = try await Scene(unnamed: true)
        let grant = try await scene.approve(.init(lifetime: 86_400))
        #expect(grant.caller.id == "container:session-3.scope")
        #expect(grant.expiresOn == scene.bed.clock.now + 12 * 3600)
    }

    @Test("a revoked grant admits no request, also after a restart")
    func revoked() async throws {
        let scene = try await Scene()
        let grant = try await scene.approve()
        let admitted = try scene.bed.policy.admit(scene.caller, as: .registered("mail"), reaching: .everything)
        try scene.bed.policy.confirm(admitted, of: scene.caller)
        try await scene.bed.grants.revoke(grant.id, in: Self.partition)
        #expect(scene.refusal()?.kind == .grantRequired)
        #expect(throws: BrokerError.self) { try scene.bed.policy.confirm(admitted, of: scene.caller) }
        await #expect(throws: BrokerError.self) { try await scene.bed.grants.revoke(grant.id, in: Self.partition) }
        #expect(try await scene.bed.reopenedGrants().list(in: Self.partition).grants.isEmpty)
    }

    @Test("a wait continues after an equal grant, but not after one for another account or other scopes")
    func givenAgain() async throws {
        let scene = try await Scene()
        let grant = try await scene.approve()
        let admitted = try scene.bed.policy.admit(scene.caller, as: .registered("mail"), reaching: .everything)
        let again = try await scene.bed.grants.approve(
            scene.caller.identity, as: scene.app, .init(lifetime: 3600), in: Self.partition)
        #expect(again.id != grant.id)
        try scene.bed.policy.confirm(admitted, of: scene.caller)
        try await scene.bed.grants.revoke(again.id, in: Self.partition)
        _ = try await scene.approve(.init(), .token(scopes: ["read"], account: nil))
        #expect(throws: BrokerError.self) { try scene.bed.policy.confirm(admitted, of: scene.caller) }
    }

    @Test("a revoked grant stays void if the disk refuses, and revoking can be tried again")
    func revokedOnBadDisk() async throws {
        let scene = try await Scene()
        let grant = try await scene.approve()
        scene.bed.vault.failWriting(.io("disk full"))
        await #expect(throws: BrokerError.self) { try await scene.bed.grants.revoke(grant.id, in: Self.partition) }
        #expect(scene.refusal()?.kind == .grantRequired)
        scene.bed.vault.failWriting(nil)
        try await scene.bed.grants.revoke(grant.id, in: Self.partition)
        #expect(try await scene.bed.reopenedGrants().list(in: Self.partition).grants.isEmpty)
    }

    @Test("evicted grants are read again, without those that were revoked")
    func letGo() async throws {
        let scene = try await Scene(memory: 1)
        let grants = scene.bed.grants
        let grant = try await grants.approve(scene.caller.identity, as: scene.app, .init(), in: Self.partition)
        let admitted = try scene.bed.policy.admit(scene.caller, as: .registered("mail"), reaching: .everything)
        try scene.bed.policy.confirm(admitted, of: scene.caller)
        scene.bed.vault.failWriting(.io("disk full"))
        await #expect(throws: BrokerError.self) { try await grants.revoke(grant.id, in: Self.partition) }
        #expect(scene.refusal()?.kind == .grantRequired)
        #expect(throws: BrokerError.self) { try scene.bed.policy.confirm(admitted, of: scene.caller) }
        scene.bed.vault.failWriting(nil)
        // Read while the disk still has it.
        scene.bed.vault.afterNextLoad(of: .grant) {
            BrokerAccessTests.waiting { try? await grants.revoke(grant.id, in: Self.partition) }
        }
        let refusal = try await onAThread { scene.refusal() }
        #expect(refusal?.kind == .grantRequired)
        #expect(scene.refusal()?.kind == .grantRequired)
    }

    @Test("a grant that could not be written does not exist")
    func notWritten() async throws {
        let scene = try await Scene()
        let request = try scene.request()
        scene.bed.vault.failWriting(.io("disk full"))
        await #expect(throws: BrokerError.self) {
            try await scene.bed.grants.approve(request: request, .init(), in: Self.partition)
        }
        #expect(try scene.request() == request)
    }

    @Test("grants and their uses survive a restart, while requests and refusals do not")
    func restart() async throws {
        let scene = try await Scene()
        let grant = try await scene.approve()
        for _ in 0..<3 { #expect(scene.refusal() == nil) }
        #expect(try scene.bed.grants.list(in: Self.partition).grants.first?.uses == 3)
        let now = scene.bed.clock.now
        await scene.bed.grants.flush()
        let after = try await scene.bed.reopenedGrants().list(in: Self.partition)
        #expect(after.grants.map(\.id) == [grant.id])
        #expect(after.grants.first?.uses == 3 && after.grants.first?.lastUsedOn == now)
    }

    @Test("uses are written together, some time after the first, and never revive a grant that is gone")
    func batched() async throws {
        let scene = try await Scene()
        let grant = try await scene.approve()
        let before = scene.bed.vault.commits
        for _ in 0..<100 { #expect(scene.refusal() == nil) }
        try await scene.bed.clock.waitForSleepers()
        #expect(scene.bed.vault.commits == before)
        scene.bed.clock.advance(bySeconds: 30)
        try await eventually("they are written") { scene.bed.vault.commits == before + 1 }
        #expect(scene.refusal() == nil)
        try await scene.bed.grants.revoke(grant.id, in: Self.partition)
        await scene.bed.grants.flush()
        #expect(try await scene.bed.reopenedGrants().list(in: Self.partition).grants.isEmpty)
    }

    @Test("a denied caller is refused without a question, longer each time, until an approval")
    func denied() async throws {
        let scene = try await Scene()
        for wait in [600, 1200, 2400] as [Int64] {
            try scene.bed.grants.deny(request: scene.request(), in: Self.partition)
            let error = scene.refusal()
            #expect(error?.kind == .accessDenied && error?.reason == .grantDenied)
            #expect(error?.details.retryAfter == Int(wait))
            #expect(try scene.bed.grants.list(in: Self.partition).requests.isEmpty)
            scene.bed.clock.advance(bySeconds: wait)
        }
        try scene.bed.grants.deny(request: scene.request(), in: Self.partition)
        _ = try await scene.bed.grants.approve(scene.caller.identity, as: scene.app, .init(), in: Self.partition)
        #expect(scene.refusal() == nil)
    }

    @Test("requests end after an hour, and one caller cannot displace the others")
    func bounds() async throws {
        let scene = try await Scene()
        let mine = try scene.request()
        for number in 0..<20 {
            try await scene.bed.directory.register(AccessBed.app("app-\(number)"), in: Self.partition)
        }
        let other = try scene.bed.caller {
            $0.rootMount = .other
            $0.attestedName = "flatpak:org.example.Greedy"
        }
        for number in 0..<20 { _ = scene.refusal(of: other, app: "app-\(number)") }
        let requests = try scene.bed.grants.list(in: Self.partition).requests
        #expect(requests.contains { $0.id == mine } && requests.count == 9)
        // Waiting requests stay: none is evicted for a later one.
        #expect(requests.suffix(8).map(\.app) == (0..<8).map { "app-\($0)" })
        #expect(scene.refusal(of: other, app: "app-9")?.kind == .throttled)
        scene.bed.clock.advance(bySeconds: 3600)
        #expect(try scene.bed.grants.list(in: Self.partition).requests.isEmpty)
        await #expect(throws: BrokerError.self) {
            try await scene.bed.grants.approve(request: mine, .init(), in: Self.partition)
        }
    }

    @Test("a grant is for the client that the person saw, and another one of the app's name needs a new one")
    func otherClient() async throws {
        let scene = try await Scene()
        _ = try await scene.approve()
        var other = scene.app
        other.clientID = "other"
        try await scene.bed.directory.register(other, in: Self.partition)
        #expect(scene.refusal()?.kind == .grantRequired)
        try await scene.bed.directory.register(scene.app, in: Self.partition)
        #expect(scene.refusal() == nil)
    }

    @Test("a waiting caller learns of an answer, and stops waiting when its time is over")
    func waiting() async throws {
        let scene = try await Scene()
        let grants = scene.bed.grants
        let request = try scene.request()
        let deadline = grants.deadline(in: 300)
        let first = Task { await grants.answer(to: request, in: Self.partition, until: deadline) }
        try await scene.bed.clock.waitForSleepers()
        scene.bed.clock.advance(bySeconds: 300)
        #expect(await first.value == .timedOut)
        let later = grants.deadline(in: 300)
        let second = Task { await grants.answer(to: request, in: Self.partition, until: later) }
        try await scene.bed.clock.waitForSleepers()
        try grants.deny(request: request, in: Self.partition)
        #expect(await second.value == .settled)
        #expect(await grants.answer(to: "nothing", in: Self.partition, until: deadline) == .settled)
    }

    @Test("a stopping broker ends all waits at once, and begins none")
    func stopping() async throws {
        let scene = try await Scene()
        let grants = scene.bed.grants
        let request = try scene.request()
        let deadline = grants.deadline(in: 300)
        let wait = Task { await grants.answer(to: request, in: Self.partition, until: deadline) }
        try await scene.bed.clock.waitForSleepers()
        scene.bed.stop.begin()
        #expect(await wait.value == .brokerStops)
        #expect(await grants.answer(to: request, in: Self.partition, until: deadline) == .brokerStops)
    }

    @Test(
        "a request that would be too long to read is refused, and does not replace the earlier one"
    )
    func bounded() async throws {
        let scene = try await Scene()
        let first = try scene.request(.token(scopes: (0..<90).map { "scope-\($0)" }, account: nil))
        for round in 0..<20 {
            let scopes = (0..<90).map { "scope-\(round)-\($0)" }
            #expect(scene.refusal(.token(scopes: scopes, account: nil))?.kind == .throttled)
        }
        let open = try scene.bed.grants.list(in: Self.partition).requests
        #expect(open.map(\.id) == [first] && open.first?.scopes?.count == 90)
        let long = [String(repeating: "s", count: 17 << 10)]
        #expect(scene.refusal(.token(scopes: long, account: nil))?.kind == .invalidParameter)
        let many = (0..<101).map { "scope-\($0)" }
        #expect(scene.refusal(.token(scopes: many, account: nil))?.kind == .invalidParameter)
    }

    @Test("a caller with a grant for some tokens may see the account, but not sign it out")
    func removal() async throws {
        let scene = try await Scene()
        _ = try await scene.approve(.init(), Self.token("read"))
        #expect(scene.refusal(Self.token("read")) == nil && scene.refusal(.account(nil)) == nil)
        #expect(scene.refusal(.removal(nil))?.kind == .grantRequired)
        _ = try await scene.approve(.init(), .removal(nil))
        #expect(scene.refusal(.removal(nil)) == nil)
    }
}
