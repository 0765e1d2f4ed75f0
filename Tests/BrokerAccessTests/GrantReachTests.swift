import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("How far a right reaches: resources, accounts, and time")
struct GrantReachTests {
    @Test("a resource counts as one of the scopes: the same scope is another power elsewhere")
    func resources() async throws {
        let scene = try await GrantScene()
        let elsewhere = AppReach.token(scopes: ["read"], resources: ["https://api.example"], account: nil)
        _ = try await scene.approve(.init(), .token(scopes: ["read"], account: nil))
        #expect(scene.refusal(elsewhere)?.kind == .grantRequired)
        // What every token may be good for is not there.
        let harmless = AppReach.token(scopes: ["email"], resources: ["https://api.example"], account: nil)
        #expect(scene.refusal(harmless)?.kind == .grantRequired)
        let grant = try await scene.approve(.init(), elsewhere)
        #expect(grant.scopes == ["read", "https://api.example"])
        #expect(scene.refusal(elsewhere) == nil && scene.refusal(harmless) == nil)
    }

    @Test("who is asked about a token that is good for more is asked about the account that it is of")
    func furtherQuestion() async throws {
        let scene = try await GrantScene()
        for (scopes, asked) in [(["read", "write"], ["read", "write"]), (nil, nil)] as [([String]?, [String]?)] {
            #expect(throws: BrokerError.self) {
                try scene.bed.policy.ask(forToken: scopes, of: "ann", scene.app, by: scene.caller)
            }
            let requests = try scene.bed.grants.list(in: AccessBed.partition).requests
            #expect(requests.map(\.accountID) == ["ann"] && requests.map(\.scopes) == [asked])
        }
    }

    @Test(
        "what waits is answered only if its caller would still be let in as the same app",
        arguments: ["nothing", "app", "client", "limit", "list", "tier"])
    func confirmed(takenBack: String) async throws {
        let bed = try await AccessBed()
        let caller = try bed.caller()
        var app = AccessBed.app()
        try await bed.directory.register(app, in: AccessBed.partition)
        let admitted = try bed.policy.admit(caller, as: .registered("mail"), reaching: .everything)
        switch takenBack {
        case "app": _ = try await bed.directory.remove(named: "mail", in: AccessBed.partition)
        case "client": app.clientID = "another"
        case "limit": app.allowedScopes = ["read"]
        case "list": app.executables = ["/usr/bin/another"]
        case "tier":
            var settings = AccessSettings(servedUID: 1000)
            (settings.tiers.unknown, settings.tiers.systemInstalled) = (.deny, .deny)
            bed.policy.apply(settings)
        default: break
        }
        if takenBack != "app" { try await bed.directory.register(app, in: AccessBed.partition) }
        let confirm = { try bed.policy.confirm(admitted, of: caller) }
        if takenBack == "nothing" {
            try confirm()
        } else {
            #expect(throws: BrokerError.self, performing: confirm)
        }
        // Who only listens has nothing that the limit is about.
        if takenBack == "limit" { try bed.policy.confirm(admitted, of: caller, limitsTokens: false) }
    }

    @Test("a client of its own that was let in by a grant is not any more when such clients are switched off")
    func adHocSwitchedOff() async throws {
        let scene = try await GrantScene()
        let reference = AppReference.adHoc(clientID: "client-9", authority: "https://id.example.org/")
        func admit() throws -> Admission<AppRegistration> {
            try scene.bed.policy.admit(scene.caller, as: reference, reaching: .everything)
        }
        let error = #expect(throws: BrokerError.self) { try admit() }
        let request = try #require(error?.details.grantRequest)
        _ = try await scene.bed.grants.approve(request: request, .init(), in: AccessBed.partition)
        let admitted = try admit()
        try scene.bed.policy.confirm(admitted, of: scene.caller)
        var settings = AccessSettings(servedUID: 1000)
        settings.allowsAdHocClients = false
        scene.bed.policy.apply(settings)
        #expect(throws: BrokerError.self) { try scene.bed.policy.confirm(admitted, of: scene.caller) }
    }
}
