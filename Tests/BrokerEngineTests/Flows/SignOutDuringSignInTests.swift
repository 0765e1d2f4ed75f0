import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// The result of a sign-in that was under way when the person signed out.
@Suite("Sign-out during a sign-in")
struct SignOutDuringSignInTests {
    private let mail = Sample.app("mail", client: "client-1", group: "office")
    private let notes = Sample.app("notes", client: "client-2", group: "office")

    /// Sign-outs that reach the app `mail`.
    enum Reach: CaseIterable {
        case app, group, everything
    }

    private func signOut(_ app: AppRegistration?, wipe: Bool = false, on bed: EngineBed) async throws {
        var request = SignOutRequest(
            partition: Sample.partition, account: .username("alice"), correlationID: "correlation-1")
        (request.app, request.wipe) = (app, wipe)
        #expect(try await bed.engine.signOut(request) { _ in }.local == .done)
    }

    private func signOut(_ reach: Reach, on bed: EngineBed) async throws {
        switch reach {
        case .app: try await signOut(mail, on: bed)
        case .group: try await signOut(notes, wipe: true, on: bed)
        case .everything: try await signOut(nil, on: bed)
        }
    }

    @Test(
        "a sign-in whose code is being redeemed does not undo a sign-out, and its tokens are revoked",
        arguments: Reach.allCases)
    func redeemedMeanwhile(_ reach: Reach) async throws {
        let bed = try await EngineBed()
        let (gate, signIn) = try await bed.redeeming(for: mail, besides: notes)
        try await signOut(reach, on: bed)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .userCanceled)
        #expect(error?.message.contains("signed out during the sign-in") == true)
        try await bed.provider.waitForRevocations(2)
        #expect(bed.provider.revoked == ["rt-2", "at-2"])
        #expect(try bed.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).isEmpty)
        // A new sign-in is kept.
        try await bed.signIn("alice", mail)
        #expect(bed.engine.cached(bed.silent(mail)) != nil)
    }

    @Test("a sign-out of another app, which it spares, leaves the sign-in alone")
    func spared() async throws {
        let bed = try await EngineBed()
        let (gate, signIn) = try await bed.redeeming(for: mail, besides: notes)
        try await signOut(notes, on: bed)
        gate.open()
        #expect(try await signIn.value.account.username == "alice")
        #expect(bed.engine.cached(bed.silent(mail)) != nil)
    }

    @Test("a sign-in that waits for the account ends, and one for any account goes on for others")
    func waiting() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        try await bed.signIn("alice", mail)
        let (first, forAlice) = bed.begin(bed.interactive(mail) { $0.account = .username("alice") })
        _ = try await first.opening()
        let (second, forAnybody) = bed.begin(bed.interactive(notes))
        let opening = try await second.opening()
        try await signOut(Reach.everything, on: bed)
        let error = await #expect(throws: BrokerError.self) { try await forAlice.value }
        #expect(error?.kind == .userCanceled)
        _ = await bed.redirects.visit(opening, code: "bob")
        #expect(try await forAnybody.value.account.username == "bob")
    }
}
