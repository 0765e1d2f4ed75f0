import BrokerAccess
import BrokerModel
import BrokerValues
import Testing

@Suite("Callers on behalf of others")
struct SharedRightTests {
    /// A bed with the apps `a` and `b`, each for one program.
    private static func bed(_ change: (inout AccessSettings) -> Void = { _ in }) async throws -> AccessBed {
        let bed = try await AccessBed(change)
        for (name, program) in [("a", "/opt/a"), ("b", "/opt/b")] {
            var app = AccessBed.app(name)
            app.executables = [program]
            try await bed.directory.register(app, in: AccessBed.partition)
        }
        try await bed.directory.register(AccessBed.app("open"), in: AccessBed.partition)
        return bed
    }

    private static func program(_ path: String, pid: Int32 = 99) -> PeerFacts {
        var facts = PeerFacts.outside
        (facts.executable, facts.pid) = (path, pid)
        return facts
    }

    private static func sandbox(_ id: String) -> PeerFacts {
        var facts = program("/app/bin/x")
        (facts.rootMount, facts.attestedName) = (.other, CallerName.flatpak(id))
        return facts
    }

    private func names(_ caller: Caller, in bed: AccessBed) -> [String] {
        ["a", "b", "open"].filter { (try? bed.admit(caller, as: .registered($0))) != nil }
    }

    @Test("a connection that was handed on has only the rights of both processes")
    func handedOn() async throws {
        let bed = try await Self.bed()
        let (a, b) = (Self.program("/opt/a"), Self.program("/opt/b"))
        #expect(names(Caller(a), in: bed) == ["a", "open"])
        #expect(names(Caller(a).handingOn(to: b), in: bed) == ["open"])
        #expect(names(Caller(a).handingOn(to: Self.program("/opt/a", pid: 98)), in: bed) == ["a", "open"])
        #expect(names(Caller(a).handingOn(to: Self.sandbox("org.example.X")), in: bed).isEmpty)
    }

    @Test("a grant to one of the two processes does not apply to the other")
    func grants() async throws {
        let bed = try await Self.bed()
        let app = AccessBed.app("open")
        for id in ["flatpak:org.example.X", "flatpak:org.example.Y"] {
            _ = try await bed.grants.approve(
                CallerIdentity(tier: .sandboxed, id: id), as: app, .init(), in: AccessBed.partition)
        }
        let (x, y) = (Self.sandbox("org.example.X"), Self.sandbox("org.example.Y"))
        #expect(names(Caller(x).handingOn(to: y), in: bed).isEmpty)
        #expect(names(Caller(x).handingOn(to: x), in: bed) == ["open"])
        // A program outside of sandboxes that needs no question adds no right and removes none.
        #expect(names(Caller(x).handingOn(to: Self.program("/opt/b")), in: bed) == ["open"])
        let error = #expect(throws: BrokerError.self) {
            try bed.admit(Caller(x).handingOn(to: y), as: .registered("open"))
        }
        #expect(error?.message.contains("make its own") == true, "\(error?.message ?? "")")
    }

    private static var brokerctl: PeerFacts {
        var facts = program("/usr/bin/brokerctl")
        facts.executableIsRootOwned = true
        return facts
    }

    @Test("brokerctl gets tokens by the rights of the program that started it, and administers as itself")
    func front() async throws {
        let bed = try await Self.bed { $0.tiers.unknown = .deny }
        #expect(names(Caller(Self.brokerctl, startedBy: Self.program("/opt/x")), in: bed).isEmpty)
        #expect(names(Caller(Self.brokerctl, startedBy: Self.program("/opt/a")), in: bed) == ["a"])
        #expect(names(Caller(Self.brokerctl), in: bed).isEmpty)
        let caller = Caller(Self.brokerctl, startedBy: Self.program("/opt/x"))
        #expect(caller.mayAdminister && caller.id == "/usr/bin/brokerctl" && caller.forApps.id == "/opt/x")
        #expect(caller.described["startedBy"] == "unknown /opt/x")
    }

    /// It can run anything, or have been replaced by the present program.
    @Test("a system program that starts brokerctl raises no caller above unknown")
    func systemStarter() async throws {
        let bed = try await Self.bed { $0.tiers.unknown = .deny }
        var starter = Self.program("/usr/bin/git")
        starter.executableIsRootOwned = true
        #expect(names(Caller(starter), in: bed) == ["open"])
        #expect(names(Caller(Self.brokerctl, startedBy: starter), in: bed).isEmpty)
    }

    @Test("an app that lists brokerctl lists every program that may run it, and its unit is brokerctl's")
    func listedFront() async throws {
        let bed = try await Self.bed { $0.tiers.unknown = .deny }
        var app = AccessBed.app("open")
        app.executables = ["/usr/bin/brokerctl"]
        try await bed.directory.register(app, in: AccessBed.partition)
        #expect(names(Caller(Self.brokerctl, startedBy: Self.program("/opt/x")), in: bed) == ["open"])
        app.executables = []
        app.units = ["user:sync.service"]
        try await bed.directory.register(app, in: AccessBed.partition)
        var front = Self.brokerctl
        front.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/user@1000.service/app.slice/sync.service")
        var manager = Self.program("/usr/lib/systemd/systemd")
        manager.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/user@1000.service/init.scope")
        #expect(names(Caller(front, startedBy: manager), in: bed) == ["open"])
        #expect(names(Caller(Self.brokerctl, startedBy: manager), in: bed).isEmpty)
    }

    @Test("a program's grant also works through brokerctl, and requests show the program's own name")
    func grantedStarter() async throws {
        let bed = try await Self.bed { $0.tiers.unknown = .ask }
        let caller = Caller(Self.brokerctl, startedBy: Self.program("/opt/x"))
        let error = #expect(throws: BrokerError.self) { try bed.admit(caller, as: .registered("open")) }
        #expect(error?.kind == .grantRequired && error?.details.caller == "/opt/x")
        _ = try await bed.grants.approve(
            request: error?.details.grantRequest ?? "", .init(), in: AccessBed.partition)
        #expect(names(caller, in: bed) == ["open"])
        #expect(names(Caller(Self.program("/opt/x")), in: bed) == ["open"])
    }
}
