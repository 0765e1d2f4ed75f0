import BrokerAccess
import BrokerModel
import BrokerValues
import Testing

@Suite("Rights of callers that no app lists")
struct TierRuleTests {
    private static let adHoc = AppReference.adHoc(clientID: "client-9", authority: "https://id.example.org/")

    private func facts(of tier: CallerTier) -> (inout PeerFacts) -> Void {
        { facts in
            switch tier {
            case .sandboxed: (facts.rootMount, facts.attestedName) = (.other, "flatpak:org.example.Game")
            case .confined: facts.label = .text("/usr/bin/man (enforce)")
            case .systemInstalled: facts.executableIsRootOwned = true
            case .unknown: break
            case .unidentified: facts.isPinned = false
            }
        }
    }

    private func kind(_ body: () throws -> Any) -> ErrorKind? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? BrokerError)?.kind }
    }

    @Test("by default sandboxed and confined callers need a grant, and the others are admitted")
    func defaults() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let expected: [CallerTier: ErrorKind?] = [
            .sandboxed: .grantRequired, .confined: .grantRequired, .systemInstalled: nil, .unknown: nil,
            .unidentified: .accessDenied,
        ]
        for (tier, kind) in expected {
            let caller = try bed.caller(facts(of: tier))
            #expect(caller.tier == tier)
            #expect(self.kind { try bed.admit(caller, as: .registered("mail")) } == kind, "\(tier)")
        }
    }

    @Test(
        "each tier has a setting, which a reload changes",
        arguments: [
            (CallerTier.sandboxed, \TierRules.sandboxed), (.confined, \.confined),
            (.systemInstalled, \.systemInstalled), (.unknown, \.unknown),
        ] as [(CallerTier, WritableKeyPath<TierRules, TierRule> & Sendable)])
    func settings(tier: CallerTier, setting: WritableKeyPath<TierRules, TierRule> & Sendable) async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let caller = try bed.caller(facts(of: tier))
        let expected: [TierRule: ErrorKind?] = [.allow: nil, .ask: .grantRequired, .deny: .accessDenied]
        for (rule, kind) in expected {
            bed.change { $0.tiers[keyPath: setting] = rule }
            #expect(self.kind { try bed.admit(caller, as: .registered("mail")) } == kind, "\(tier) \(rule)")
        }
    }

    @Test("an app that lists a caller accepts it, whatever the tier's setting")
    func listed() async throws {
        let bed = try await AccessBed { $0.tiers.sandboxed = .deny }
        var app = AccessBed.app()
        app.sandboxIDs = ["org.example.Game"]
        try await bed.directory.register(app, in: AccessBed.partition)
        #expect(try bed.admit(bed.caller(facts(of: .sandboxed)), as: .registered("mail")) == app)
    }

    @Test("an app's list keeps out unlisted callers of an allowed tier, unless they have a grant")
    func lists() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.executables = ["/usr/bin/mail"]
        try await bed.directory.register(app, in: AccessBed.partition)
        let caller = try bed.caller()
        let error = #expect(throws: BrokerError.self) { try bed.admit(caller, as: .registered("mail")) }
        #expect(error?.reason == .callerNotListed && error?.message.contains("brokerctl grants approve") == true)
        _ = try await bed.grants.approve(caller.identity, as: app, .init(), in: AccessBed.partition)
        #expect(try bed.admit(caller, as: .registered("mail")) == app)
        // Denying a tier also denies what was granted.
        bed.change { $0.tiers.unknown = .deny }
        #expect(kind { try bed.admit(caller, as: .registered("mail")) } == .accessDenied)
    }

    @Test("a sandbox's own client always needs a grant, even if its tier is allowed")
    func adHoc() async throws {
        let bed = try await AccessBed { $0.tiers.sandboxed = .allow }
        let caller = try bed.caller(facts(of: .sandboxed))
        let error = #expect(throws: BrokerError.self) { try bed.admit(caller, as: Self.adHoc) }
        #expect(error?.kind == .grantRequired && error?.details.app?.contains("https://id.example.org") == true)
        let request = try #require(error?.details.grantRequest)
        _ = try await bed.grants.approve(request: request, .init(), in: AccessBed.partition)
        #expect(try bed.admit(caller, as: Self.adHoc).clientID == "client-9")
    }

    @Test("a sandbox's own client is separate from other sandboxes' and the host's")
    func adHocGroups() async throws {
        let bed = try await AccessBed()
        var groups: Set<GroupID> = []
        for name in ["org.example.Game", "org.example.Mail"] {
            let caller = try bed.caller {
                $0.rootMount = .other
                $0.attestedName = CallerName.flatpak(name)
            }
            let error = #expect(throws: BrokerError.self) { try bed.admit(caller, as: Self.adHoc) }
            _ = try await bed.grants.approve(
                request: try #require(error?.details.grantRequest), .init(), in: AccessBed.partition)
            groups.insert(try bed.admit(caller, as: Self.adHoc).effectiveGroup)
        }
        groups.insert(try bed.admit(bed.caller(), as: Self.adHoc).effectiveGroup)
        #expect(groups.count == 3)
    }

    @Test("a caller without a lasting identity is refused without a question")
    func passing() async throws {
        let bed = try await AccessBed { $0.tiers.unknown = .ask }
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let hidden = try bed.caller { $0.executable = nil }
        #expect(hidden.id == "pid 4711")
        #expect(kind { try bed.admit(hidden, as: .registered("mail")) } == .accessDenied)
        await #expect(throws: BrokerError.self) {
            try await bed.grants.approve(hidden.identity, as: AccessBed.app(), .init(), in: AccessBed.partition)
        }
    }

    @Test(
        "authorities on private networks can be limited to registered apps",
        arguments: [
            "https://10.0.0.1", "https://192.168.1.1/x", "https://172.31.0.1", "https://127.0.0.1:8443",
            "https://169.254.169.254", "https://100.64.0.1", "https://[::1]", "https://[fd00::1]", "https://[fe80::1]",
            "https://[::ffff:10.0.0.1]", "https://localhost", "https://idp", "https://idp.local", "https://a.internal",
            "https://2130706433", "https://127.1", "https://0x7f.0.0.0x1",
        ])
    func privateAuthorities(url: String) async throws {
        let bed = try await AccessBed { $0.allowsPrivateAuthorities = false }
        let reference = AppReference.adHoc(clientID: "c", authority: url)
        #expect(kind { try bed.admit(bed.caller(), as: reference) } == .invalidAuthority)
        #expect(kind { try bed.admit(bed.caller(), as: Self.adHoc) } == nil)
        #expect(kind { try bed.admit(bed.caller(), as: .adHoc(clientID: "c", authority: "https://8.8.8.8")) } == nil)
        try await bed.directory.register(AccessBed.app(authority: "https://10.0.0.1"), in: AccessBed.partition)
        #expect(kind { try bed.admit(bed.caller(), as: .registered("mail")) } == nil)
    }

    @Test("a request with a private authority is refused if that was forbidden since its admission")
    func privateAuthorityForbidden() async throws {
        let bed = try await AccessBed()
        let caller = try bed.caller()
        let near = try bed.policy.admit(
            caller, as: .adHoc(clientID: "c", authority: "https://10.0.0.1"), reaching: .everything)
        let far = try bed.policy.admit(caller, as: Self.adHoc, reaching: .everything)
        try bed.policy.confirm(near, of: caller)
        bed.change { $0.allowsPrivateAuthorities = false }
        #expect(throws: BrokerError.self) { try bed.policy.confirm(near, of: caller) }
        try bed.policy.confirm(far, of: caller)
    }

    @Test("a waiting administrator is refused if the requirements have risen meanwhile")
    func proofAskedFor() async throws {
        let bed = try await AccessBed()
        let caller = try bed.caller()
        let admitted = Admission<AppRegistration?>(app: nil, grant: nil)
        try AppReference?.confirm(admitted, of: caller, by: bed.policy)
        bed.change { $0.adminProof = .group(nil) }
        #expect(throws: BrokerError.self) { try AppReference?.confirm(admitted, of: caller, by: bed.policy) }
    }
}
