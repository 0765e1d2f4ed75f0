import BrokerAccess
import BrokerModel
import BrokerValues
import Testing

@Suite("Admission of callers, and their apps")
struct AccessPolicyTests {
    @Test("a peer of another uid is not served, root included")
    func otherUser() async throws {
        let bed = try await AccessBed()
        for uid in [UInt32(0), 1001] {
            let error = #expect(throws: BrokerError.self) {
                try bed.policy.serves(PeerCredentials(uid: uid, gid: uid, pid: 1))
            }
            #expect(error?.kind == .accessDenied)
            #expect(error?.reason == .otherUser)
        }
        try bed.policy.serves(PeerCredentials(uid: 1000, gid: 1000, pid: 1))
    }

    @Test("an app without a list accepts every caller of its person")
    func unlisted() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        #expect(try bed.admit(bed.caller(), as: .registered("mail")).name == "mail")
    }

    @Test("an app that lists programs refuses others, and names the caller")
    func listedPrograms() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.executables = ["/usr/bin/mail"]
        try await bed.directory.register(app, in: AccessBed.partition)
        let error = #expect(throws: BrokerError.self) {
            try bed.admit(bed.caller(), as: .registered("mail"))
        }
        #expect(error?.kind == .accessDenied)
        #expect(error?.reason == .callerNotListed)
        #expect(error?.details.caller == "/home/alice/bin/tool")
        #expect(error?.details.app == "mail")
        let listed = try bed.caller { $0.executable = "/usr/bin/mail" }
        #expect(try bed.admit(listed, as: .registered("mail")) == app)
    }

    @Test("a restored vault's lists of sandboxes do not count until a person confirms them")
    func rolledBack() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.sandboxIDs = ["org.example.Mail"]
        try await bed.directory.register(app, in: AccessBed.partition)
        try await bed.directory.register(AccessBed.app("open"), in: AccessBed.partition)
        let listed = try bed.caller {
            $0.rootMount = .other
            $0.attestedName = "flatpak:org.example.Mail"
        }
        #expect(try bed.admit(listed, as: .registered("mail")) == app)
        bed.vault.rollBack()
        let error = #expect(throws: BrokerError.self) { try bed.admit(listed, as: .registered("mail")) }
        #expect(error?.kind == .accessDenied && error?.reason == .vaultRolledBack)
        #expect(try bed.admit(bed.caller(), as: .registered("open")).name == "open")
        try await bed.vault.acceptState(of: AccessBed.partition)
        #expect(try bed.admit(listed, as: .registered("mail")) == app)
    }

    @Test("a listed path admits no sandboxed program: the app must list the sandbox")
    func sandboxPaths() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.executables = ["/usr/bin/mail"]
        app.sandboxIDs = ["org.example.Mail"]
        try await bed.directory.register(app, in: AccessBed.partition)
        let impostor = try bed.caller {
            $0.executable = "/usr/bin/mail"
            $0.rootMount = .other
            $0.attestedName = "flatpak:org.example.Game"
        }
        #expect(throws: BrokerError.self) { try bed.admit(impostor, as: .registered("mail")) }
        let listed = try bed.caller {
            $0.rootMount = .other
            $0.attestedName = "flatpak:org.example.Mail"
        }
        #expect(try bed.admit(listed, as: .registered("mail")) == app)
    }

    @Test("an unidentified caller uses no app, whatever the settings, and brings no client of its own")
    func unidentified() async throws {
        let bed = try await AccessBed { $0.tiers.unknown = .allow }
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let unidentified = try bed.caller { $0.isPinned = false }
        let unlisted = #expect(throws: BrokerError.self) {
            try bed.admit(unidentified, as: .registered("mail"))
        }
        #expect(unlisted?.kind == .accessDenied && unlisted?.reason == .callerNotListed)
        let own = #expect(throws: BrokerError.self) {
            try bed.admit(unidentified, as: .adHoc(clientID: "c", authority: "https://id.example.org/"))
        }
        #expect(own?.kind == .accessDenied && own?.reason == .adHocForbidden)
    }

    @Test("the error for an unknown app says how to add it")
    func unknownApp() async throws {
        let bed = try await AccessBed()
        let error = #expect(throws: BrokerError.self) {
            try bed.admit(bed.caller(), as: .registered("nobody"))
        }
        #expect(error?.kind == .appNotFound)
        #expect(error?.message.contains("brokerctl apps add") == true)
    }

    @Test("an ad hoc client is allowed by default, and can be forbidden while the broker runs")
    func adHoc() async throws {
        let bed = try await AccessBed()
        let reference = AppReference.adHoc(clientID: "client-9", authority: "https://id.example.org/")
        let app = try bed.admit(bed.caller(), as: reference)
        #expect(app.isAdHoc && app.clientID == "client-9" && app.authority.url == "https://id.example.org")
        var settings = AccessSettings(servedUID: 1000)
        settings.allowsAdHocClients = false
        bed.policy.apply(settings)
        let error = #expect(throws: BrokerError.self) { try bed.admit(bed.caller(), as: reference) }
        #expect(error?.reason == .adHocForbidden)
    }

    @Test(
        "an authority is https, or plain http on loopback with the flag",
        arguments: [
            "ftp://id.example.org", "id.example.org", "http://id.example.org", "http://127.0.0.1:8080",
            "https://id.example.org/?x=1", "https://user@id.example.org", "http://localhost.evil.example", "https://",
        ])
    func authorities(text: String) async throws {
        let bed = try await AccessBed()
        #expect(#expect(throws: BrokerError.self) { try bed.policy.authority(text) }?.kind == .invalidAuthority)
    }

    @Test("the person is asked on a page for a program on another machine only if it has the right to open pages")
    func pagesElsewhere() async throws {
        let bed = try await AccessBed()
        func approval(_ engine: String, _ rights: [SandboxRight]) throws -> AccessPolicy.PageApproval {
            let sandbox = Sandbox(engine: engine, id: "devbox", rights: rights)
            return bed.policy.pageApproval(about: try bed.caller { $0.sandbox = sandbox })
        }
        #expect(try approval("ssh", [.token, .accounts]) == AccessPolicy.PageApproval.none)
        #expect(try approval("ssh", [.token, .interactive]) == .whole)
        #expect(try approval("bubblewrap", [.token]) == .whole)
    }

    @Test("an app of a loopback provider is refused without the flag")
    func flagGone() async throws {
        let bed = try await AccessBed { $0.authorities.allowsHTTPLoopback = true }
        try await bed.directory.register(AccessBed.app(authority: "http://127.0.0.1:8080"), in: AccessBed.partition)
        _ = try bed.admit(bed.caller(), as: .registered("mail"))
        bed.policy.apply(AccessSettings(servedUID: 1000))
        let error = #expect(throws: BrokerError.self) {
            try bed.admit(bed.caller(), as: .registered("mail"))
        }
        #expect(error?.kind == .invalidAuthority)
    }
}
