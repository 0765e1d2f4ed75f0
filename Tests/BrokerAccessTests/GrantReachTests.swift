import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Extent of a grant: resources, accounts, and time")
struct GrantReachTests {
    @Test("a resource counts as one of the scopes, as the same scope is another right elsewhere")
    func resources() async throws {
        let scene = try await GrantScene()
        let elsewhere = AppReach.token(scopes: ["read"], resources: ["https://api.example"], account: nil)
        _ = try await scene.approve(.init(), .token(scopes: ["read"], account: nil))
        #expect(scene.refusal(elsewhere)?.kind == .grantRequired)
        // Scopes that every token may have are left out.
        let harmless = AppReach.token(scopes: ["email"], resources: ["https://api.example"], account: nil)
        #expect(scene.refusal(harmless)?.kind == .grantRequired)
        let grant = try await scene.approve(.init(), elsewhere)
        #expect(grant.scopes == ["read", "https://api.example"])
        #expect(scene.refusal(elsewhere) == nil && scene.refusal(harmless) == nil)
    }

    @Test("a request by username is for the account of that name, and admitted by either name once approved")
    func username() async throws {
        for reach in [Self.token(of: "ann"), .account(.username("ann")), .removal(.username("ann"))] {
            let scene = try await GrantScene(accounts: ["ann": "a1", "bob": "b1"])
            #expect(try await scene.approve(.init(), reach).accountID == "a1")
            #expect(scene.refusal(reach) == nil && scene.refusal(.account(.id("a1"))) == nil)
            _ = try scene.request(Self.token(of: "bob"))
            #expect(try scene.bed.grants.list(in: AccessBed.partition).requests.map(\.accountID) == ["b1"])
            #expect(scene.refusal(.everything)?.kind == .grantRequired)
        }
    }

    @Test("a request for a second account shows as one for all, in place of the first")
    func secondAccount() async throws {
        let scene = try await GrantScene(accounts: ["ann": "a1", "bob": "b1"])
        let first = try scene.request(Self.token(of: "ann"))
        #expect(try scene.request(.token(scopes: ["read"], account: .id("a1"))) == first)
        let second = try scene.request(Self.token(of: "bob"))
        let requests = try scene.bed.grants.list(in: AccessBed.partition).requests
        #expect(requests.map(\.id) == [second] && requests.map(\.accountID) == [nil])
        await #expect(throws: BrokerError.self) {
            try await scene.bed.grants.approve(request: first, .init(), in: AccessBed.partition)
        }
    }

    @Test("approving a request for a name that no account has allows nobody's tokens")
    func unknownName() async throws {
        let scene = try await GrantScene(accounts: ["ann": "a1"])
        #expect(try await scene.approve(.init(), Self.token(of: "eve")).accountID == "username:eve")
        let admitted = try scene.bed.policy.admit(
            scene.caller, as: .registered("mail"), reaching: Self.token(of: "eve"))
        #expect(admitted.grant?.covers(accountID: "a1", scopes: ["read"]) == false)
        for reach in [Self.token(of: "ann"), .account(.id("a1")), .account(.id("eve")), .everything] {
            #expect(scene.refusal(reach)?.kind == .grantRequired, "\(reach)")
        }
        let long = String(repeating: "e", count: QuestionLimits.account)
        #expect(scene.refusal(Self.token(of: long))?.kind == .invalidParameter)
    }

    private static func token(of username: String) -> AppReach {
        .token(scopes: ["read"], account: .username(username))
    }

    @Test("a request about a token with more scopes names the account of the token")
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
        "a waiting request is answered only if its caller would still be admitted as the same app",
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
        // The limit does not concern a listener.
        if takenBack == "limit" { try bed.policy.confirm(admitted, of: caller, limitsTokens: false) }
    }

    @Test("a caller's own client admitted by a grant is refused once such clients are switched off")
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
