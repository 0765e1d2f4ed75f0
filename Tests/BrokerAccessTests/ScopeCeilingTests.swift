import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("The limit of an app's scopes")
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
        "a request above the limit is refused before any work with its scopes, and others continue",
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

    @Test("an app without a limit may ask for anything, as its default scopes are no limit")
    func none() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(Self.app { $0.allowedScopes = nil }, in: AccessBed.partition)
        #expect(refusal(bed, try bed.caller(), .token(scopes: ["delete"], account: nil)) == nil)
    }

    @Test("an empty limit lets the app identify the person, and no more")
    func empty() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(
            Self.app { ($0.scopes, $0.allowedScopes) = ([], []) }, in: AccessBed.partition)
        #expect(refusal(bed, try bed.caller(), .token(scopes: ["email"], account: nil)) == nil)
        #expect(refusal(bed, try bed.caller(), .token(scopes: ["read"], account: nil))?.reason == .scopesNotAllowed)
        #expect(refusal(bed, try bed.caller(), .account(nil)) == nil)
    }

    @Test("the person gets no question about scopes beyond the limit, and a grant does not give them")
    func grants() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(Self.app(), in: AccessBed.partition)
        let sandboxed = try bed.caller { ($0.rootMount, $0.attestedName) = (.other, "flatpak:org.example.Game") }
        let delete = AppReach.token(scopes: ["delete"], account: nil)
        #expect(refusal(bed, sandboxed, delete)?.reason == .scopesNotAllowed)
        #expect(try bed.grants.list(in: AccessBed.partition).requests.isEmpty)
        _ = try await bed.grants.approve(
            sandboxed.identity, as: Self.app(), .init(), in: AccessBed.partition)
        #expect(refusal(bed, sandboxed, delete)?.reason == .scopesNotAllowed)
        #expect(refusal(bed, sandboxed, .token(scopes: ["read"], account: nil)) == nil)
    }

    @Test("extra scopes to consent to count as requested, for grants as well")
    func extra() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let sandboxed = try bed.caller { ($0.rootMount, $0.attestedName) = (.other, "flatpak:org.example.Game") }
        let request = try #require(
            refusal(bed, sandboxed, .token(scopes: ["read"], account: nil))?.details.grantRequest)
        _ = try await bed.grants.approve(request: request, .init(), in: AccessBed.partition)
        #expect(refusal(bed, sandboxed, .token(scopes: ["read"], account: nil)) == nil)
        let wider = refusal(bed, sandboxed, .token(scopes: ["read"], extra: ["delete"], account: nil))
        #expect(wider?.kind == .grantRequired)
    }

    @Test("default scopes must be within the limit, and a replacement without a limit drops it")
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
