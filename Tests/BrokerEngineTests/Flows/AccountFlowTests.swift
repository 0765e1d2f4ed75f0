import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Accounts of groups")
struct AccountFlowTests {
    private let mail = Sample.app("mail", client: "client-1", group: "office")
    private let calendar = Sample.app("calendar", client: "client-1", group: "office")
    private let notes = Sample.app("notes", client: "client-2", group: "office")
    private let stranger = Sample.app("stranger", client: "client-1")

    private func names(_ bed: EngineBed, _ app: AppRegistration?, includeSignedOut: Bool = false) throws -> [String] {
        try bed.engine.accounts(of: app, includeSignedOut: includeSignedOut, in: Sample.partition).map(\.username)
    }

    @Test("one sign-in gives every app of the group the account, which is invisible outside it")
    func sharing() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        #expect(try bed.text(try await bed.engine.acquireSilent(bed.silent(calendar))) == "at-1")
        #expect(try names(bed, notes) == ["alice"])
        #expect(try names(bed, stranger).isEmpty)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(stranger)) }
        #expect(error?.reason == .noTokens)
        let named = bed.silent(stranger) { $0.account = .username("alice") }
        #expect(
            await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(named) }?.kind
                == .accountNotFound)
    }

    @Test("an app of the group with another client id has the account, but no token yet")
    func otherClient() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(notes)) }
        #expect(error?.reason == .noTokens)
    }

    @Test("a registered app and an ad hoc client with the same client id share no account")
    func adHoc() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        let adHoc = AppRegistration(
            name: "client-1", clientID: "client-1", authority: Sample.authority(), isAdHoc: true)
        #expect(try names(bed, adHoc).isEmpty)
    }

    @Test("removing an account from one app leaves the others of the group signed in")
    func removeFromOne() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar, notes])
        try await bed.signIn("alice", mail)
        #expect(try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition) == 3)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(mail)) }
        #expect(error?.reason == .signedOut)
        #expect(error?.details.accounts?.map(\.username) == ["alice"])
        #expect(error?.details.accounts?.map(\.signedIn) == [false])
        #expect(bed.engine.cached(bed.silent(calendar)) != nil)
        #expect(try names(bed, mail).isEmpty)
        #expect(try names(bed, mail, includeSignedOut: true) == ["alice"])
        #expect(try names(bed, calendar) == ["alice"])
        #expect(try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition) == 0)
    }

    @Test("removal from the last app deletes everything of the account, in memory and on disk")
    func removeFromAll() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar])
        try await bed.signIn("alice", mail)
        _ = try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition)
        _ = try await bed.engine.remove(.username("alice"), from: calendar, in: Sample.partition)
        #expect(try names(bed, nil, includeSignedOut: true).isEmpty)
        #expect(try bed.vault.statistics().records == 0)
    }

    @Test("tokens of a client that no app has any more are removed with their account")
    func removeLeftClient() async throws {
        let bed = try await EngineBed()
        let other = Sample.app("tasks", client: "client-of-tasks", group: "office")
        bed.roster.set([mail, other])
        try await bed.signIn("alice", mail)
        try await bed.signIn("alice", other)
        bed.roster.set([mail])
        _ = try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition)
        #expect(try bed.vault.statistics().records == 0)
    }

    @Test("a new sign-in ends the sign-out")
    func signInAgain() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar])
        try await bed.signIn("alice", mail)
        _ = try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition)
        try await bed.signIn("alice", mail)
        #expect(bed.engine.cached(bed.silent(mail)) != nil)
        let engine = try await bed.restarted()
        #expect(
            try engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).map(\.username) == ["alice"])
    }

    @Test("removing an unknown account is an error")
    func removeNobody() async throws {
        let bed = try await EngineBed()
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition)
        }
        #expect(error?.kind == .accountNotFound)
    }

    @Test("a removal that the disk refuses is not reported as done")
    func removeOnFullDisk() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        bed.vault.failWriting(.full("no space"))
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition)
        }
        #expect(error?.reason == .vaultNotWritable)
        #expect(bed.engine.cached(bed.silent(mail)) == nil)
    }

    @Test("a request that several accounts match fails with a list in the order of first sign-in")
    func several() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("zoe", mail)
        bed.clock.advance(bySeconds: 1)
        try await bed.signIn("amy", mail)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(mail)) }
        #expect(error?.kind == .ambiguousAccount)
        #expect(error?.details.accounts?.map(\.username) == ["zoe", "amy"])
        let named = bed.silent(mail) { $0.account = .username("ZOE") }
        #expect(bed.engine.cached(named)?.account.username == "zoe")
    }

    @Test("a username that several people have is not enough to remove or sign out one of them")
    func oneNameTwice() async throws {
        let bed = try await EngineBed()
        let first = try await bed.signIn("alice#1", mail)
        bed.clock.advance(bySeconds: 1)
        let second = try await bed.signIn("alice#2", mail)
        #expect(first.account.username == second.account.username && first.account.id != second.account.id)
        let name = AccountReference.username("alice")
        let removal = await #expect(throws: BrokerError.self) {
            try await bed.engine.remove(name, from: mail, in: Sample.partition)
        }
        #expect(removal?.kind == .ambiguousAccount)
        #expect(removal?.details.accounts?.map(\.id) == [first.account.id, second.account.id])
        var request = SignOutRequest(partition: Sample.partition, account: name, correlationID: "correlation-1")
        request.app = mail
        let signOut = await #expect(throws: BrokerError.self) { try await bed.engine.signOut(request) { _ in } }
        #expect(signOut?.kind == .ambiguousAccount)
        #expect(try names(bed, mail).count == 2)
        #expect(try await bed.engine.remove(.id(first.account.id), from: mail, in: Sample.partition) == 3)
        #expect(try await bed.engine.remove(name, from: mail, in: Sample.partition) == 3)
        #expect(try names(bed, mail).isEmpty)
    }

    @Test("a request without scopes asks for the app's usual ones, without those that the broker adds")
    func usualScopes() async throws {
        let bed = try await EngineBed()
        var app = mail
        app.scopes = ["OpenID", "mail.read offline_access"]
        try await bed.signIn("alice", app, [])
        #expect(bed.silent(app, []).scopes == Scopes(["mail.read"]))
        #expect(bed.engine.cached(bed.silent(app, [])) != nil)
        #expect(bed.engine.cached(bed.silent(app, ["mail.read"])) != nil)
    }

    @Test("partitions do not see each other")
    func partitions() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        #expect(try bed.engine.accounts(of: mail, includeSignedOut: true, in: Partition(uid: 1001)).isEmpty)
        #expect(bed.engine.cached(bed.silent(mail)) != nil)
        #expect(bed.engine.cached(bed.silent(mail) { $0.partition = Partition(uid: 1001) }) == nil)
    }

    @Test("an account's id is the same after signing out and in again")
    func stableID() async throws {
        let bed = try await EngineBed()
        let first = try await bed.signIn("alice", mail).account.id
        _ = try await bed.engine.remove(.username("alice"), from: mail, in: Sample.partition)
        #expect(try await bed.signIn("alice", mail).account.id == first)
    }
}
