import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Apps by a caller's rights")
struct UsableAppsTests {
    private func names(_ usable: UsableApps) -> [[String]] {
        [usable.allowed.map(\.name), usable.askable.map(\.name)]
    }

    @Test("a program outside can use apps that list it or no caller, listed by name")
    func outside() async throws {
        let bed = try await AccessBed()
        for name in ["work", "mail", "tool", "closed"] {
            var app = AccessBed.app(name)
            if name == "tool" { app.description.executables = ["/home/alice/bin/tool"] }
            if name == "closed" { app.description.executables = ["/usr/bin/other"] }
            try await bed.directory.register(app, in: AccessBed.partition)
        }
        #expect(try names(bed.policy.usableApps(by: try bed.caller())) == [["mail", "tool", "work"], []])
        bed.change { $0.tiers.unknown = .deny }
        #expect(try names(bed.policy.usableApps(by: try bed.caller())) == [["tool"], []])
    }

    @Test("a sandbox can use apps that a person granted, and listing them asks no question")
    func sandboxed() async throws {
        let scene = try await GrantScene()
        try await scene.bed.directory.register(AccessBed.app("work"), in: AccessBed.partition)
        #expect(try names(scene.bed.policy.usableApps(by: scene.caller)) == [[], ["mail", "work"]])
        #expect(try scene.bed.grants.list(in: AccessBed.partition).requests.isEmpty)
        let grant = try await scene.approve(.init(scopes: ["read"]), .token(scopes: ["read"], account: nil))
        #expect(try names(scene.bed.policy.usableApps(by: scene.caller)) == [["mail"], ["work"]])
        #expect(try scene.bed.grants.list(in: AccessBed.partition).grants.map(\.uses) == [0])
        try await scene.bed.grants.revoke(grant.id, in: AccessBed.partition)
        #expect(try names(scene.bed.policy.usableApps(by: scene.caller)) == [[], ["mail", "work"]])
    }

    @Test("a sandbox with a socket of its own can use the socket's apps only")
    func nameable() async throws {
        let bed = try await AccessBed()
        for name in ["work", "mail"] {
            try await bed.directory.register(AccessBed.app(name), in: AccessBed.partition)
        }
        let caller = try bed.caller {
            $0.rootMount = .other
            $0.sandbox = Sandbox(engine: "podman", id: "build", apps: ["mail"], rights: [.token])
            $0.sandboxApps = ["mail": nil]
        }
        #expect(try names(bed.policy.usableApps(by: caller)) == [["mail"], []])
    }

    @Test("a locked broker lists no apps, though they are in memory")
    func locked() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let caller = try bed.caller()
        #expect(try names(bed.policy.usableApps(by: caller)) == [["mail"], []])
        await bed.gate.shut()
        let error = #expect(throws: BrokerError.self) { try bed.policy.usableApps(by: caller) }
        #expect(error?.kind == .locked)
    }

    @Test("apps of another user are not listed")
    func others() async throws {
        let bed = try await AccessBed { $0.audience = .everybody(overflow: 65_534) }
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        #expect(try names(bed.policy.usableApps(by: try bed.caller { $0.uid = 1001 })) == [[], []])
    }
}
