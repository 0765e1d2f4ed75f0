import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("What an app may ask for at most")
struct ScopeCeilingTests {
    private static func app(_ change: (inout AppRegistration) -> Void = { _ in }) -> AppRegistration {
        var app = AccessBed.app()
        (app.scopes, app.allowedScopes) = (["read"], ["read", "send"])
        change(&app)
        return app
    }

    private func refusal(_ bed: AccessBed, _ caller: Caller, _ reach: AppReach) -> BrokerError? {
        do throws(BrokerError) {
            _ = try bed.admit(caller, as: .registered("mail"), reaching: reach)
            return nil
        } catch { return error }
    }

    @Test(
        "a request above it is refused before any work, and says what for; others go on",
        arguments: [
            (["read"], [], nil), (["SEND", "read"], [], nil), ([], [], nil), (["email"], [], nil),
            (["read", "delete"], [], "delete"), (["read"], ["delete"], "delete"), (["read delete"], [], "delete"),
        ] as [([String], [String], String?)])
    func ceiling(scopes: [String], extra: [String], above: String?) async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(Self.app(), in: AccessBed.partition)
        let error = refusal(bed, try bed.caller(), .token(scopes: scopes, extra: extra, account: nil))
        #expect(error?.kind == above.map { _ in .accessDenied })
        #expect(error?.reason == above.map { _ in .scopesNotAllowed })
        if let above { #expect(error?.message.contains("may not ask for \(above),") == true) }
    }

    @Test("a resource counts as one of the scopes")
    func resources() async throws {
        let bed = try await AccessBed()
        let reach = AppReach.token(scopes: ["email"], resources: ["https://api.example"], account: nil)
        try await bed.directory.register(Self.app(), in: AccessBed.partition)
        #expect(refusal(bed, try bed.caller(), reach)?.reason == .scopesNotAllowed)
        let allowed = Self.app { $0.allowedScopes = ["read", "https://api.example"] }
        try await bed.directory.register(allowed, in: AccessBed.partition)
        #expect(refusal(bed, try bed.caller(), reach) == nil)
    }

    @Test("an app without one may ask for anything: the scopes that it usually asks for are no limit")
    func none() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(Self.app { $0.allowedScopes = nil }, in: AccessBed.partition)
        #expect(refusal(bed, try bed.caller(), .token(scopes: ["delete"], account: nil)) == nil)
    }

    @Test("an empty one lets the app know who the person is, and no more")
    func empty() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(
            Self.app { ($0.scopes, $0.allowedScopes) = ([], []) }, in: AccessBed.partition)
        #expect(refusal(bed, try bed.caller(), .token(scopes: ["email"], account: nil)) == nil)
        #expect(refusal(bed, try bed.caller(), .token(scopes: ["read"], account: nil))?.reason == .scopesNotAllowed)
        #expect(refusal(bed, try bed.caller(), .account(nil)) == nil)
    }

    @Test("a person is not asked about what the app may not have, and a grant does not give it")
    func grants() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(Self.app(), in: AccessBed.partition)
        let sandboxed = try bed.caller { ($0.rootMount, $0.flatpakID) = (.other, "org.example.Game") }
        let delete = AppReach.token(scopes: ["delete"], account: nil)
        #expect(refusal(bed, sandboxed, delete)?.reason == .scopesNotAllowed)
        #expect(try bed.grants.list(in: AccessBed.partition).requests.isEmpty)
        _ = try await bed.grants.approve(
            sandboxed.identity, as: Self.app(), .init(), in: AccessBed.partition)
        #expect(refusal(bed, sandboxed, delete)?.reason == .scopesNotAllowed)
        #expect(refusal(bed, sandboxed, .token(scopes: ["read"], account: nil)) == nil)
    }

    @Test("what a person is asked to consent to besides counts as asked for, for grants as well")
    func extra() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let sandboxed = try bed.caller { ($0.rootMount, $0.flatpakID) = (.other, "org.example.Game") }
        let request = try #require(
            refusal(bed, sandboxed, .token(scopes: ["read"], account: nil))?.details.grantRequest)
        _ = try await bed.grants.approve(request: request, .init(), in: AccessBed.partition)
        #expect(refusal(bed, sandboxed, .token(scopes: ["read"], account: nil)) == nil)
        let wider = refusal(bed, sandboxed, .token(scopes: ["read"], extra: ["delete"], account: nil))
        #expect(wider?.kind == .grantRequired)
    }

    @Test("an app cannot usually ask for what it may not have; to replace one without saying the limit drops it")
    func rules() async throws {
        let bed = try await AccessBed()
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(Self.app { $0.scopes = ["delete"] }, in: AccessBed.partition)
        }
        #expect(error?.kind == .invalidParameter && error?.message.contains("scopes has delete") == true)
        try await bed.directory.register(Self.app(), in: AccessBed.partition)
        let refused = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(AccessBed.app(), overPrevious: .isKept, in: AccessBed.partition)
        }
        #expect(refused?.message.contains("its limit of scopes") == true)
        #expect(
            try await bed.reopened().app(named: "mail", in: AccessBed.partition)?.allowedScopes == ["read", "send"])
    }
}
