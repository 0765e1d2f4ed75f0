import BrokerAccess
import BrokerModel
import BrokerValues
import Testing

/// One row of the table of tiers: facts that differ from an ordinary program's, and the result.
struct TierRow: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout PeerFacts) -> Void
    var tier: CallerTier
    var id: String
    var administers = false

    init(
        _ what: String, _ tier: CallerTier, _ id: String, administers: Bool = false,
        _ change: @escaping @Sendable (inout PeerFacts) -> Void
    ) {
        testDescription = what
        (self.tier, self.id, self.administers, self.change) = (tier, id, administers, change)
    }
}

@Suite("Trust from a caller's facts")
struct CallerTests {
    @Test("each row of the table gives its tier", arguments: rows)
    func table(row: TierRow) {
        var facts = PeerFacts.outside
        row.change(&facts)
        let caller = Caller(facts)
        #expect(caller.tier == row.tier)
        #expect(caller.id == row.id)
        #expect(caller.mayAdminister == row.administers)
    }

    /// Unknown facts must not help: no single fact may raise a caller's tier by being unreadable.
    @Test("an unreadable fact never raises a caller's tier, whatever the others are")
    func unreadableNeverHelps() {
        let places: [HostComparison] = [.same, .other, .unreadable]
        for root in places {
            for user in places {
                for pid in places {
                    for isPinned in [true, false] {
                        var facts = PeerFacts.outside
                        (facts.rootMount, facts.userNamespace, facts.pidNamespace) = (root, user, pid)
                        facts.isPinned = isPinned
                        let isProved = isPinned && root == .same && user == .same && pid == .same
                        #expect(Caller(facts).mayAdminister == isProved)
                        facts.cgroup = nil
                        #expect(!Caller(facts).mayAdminister)
                    }
                }
            }
        }
    }

    @Test(
        "a sandbox without a confirmed name is counted by its unit, whatever it creates inside"
    )
    func countedByUnit() {
        func claimant(_ group: String, _ change: (inout PeerFacts) -> Void = { _ in }) -> QuotaOwner {
            var facts = PeerFacts.outside
            (facts.rootMount, facts.cgroup) = (.other, ControlGroup(path: group))
            change(&facts)
            return Caller(facts).claimant
        }
        let manager = "/user.slice/user-1000.slice/user@1000.service"
        let own = claimant("\(manager)/app.slice/app-game.scope")
        #expect(own.isUnnamed)
        for group in ["/a", "/b/c.scope", "/user@1.service/d.service"] {
            #expect(claimant("\(manager)/app.slice/app-game.scope\(group)") == own, "\(group)")
        }
        #expect(claimant("\(manager)/app.slice/app-game.scope") { ($0.pid, $0.userNamespace) = (9, .other) } == own)
        #expect(claimant("\(manager)/app.slice/app-other.scope") != own)
        #expect(
            claimant("/user.slice/user-1000.slice/session-3.scope/a")
                == claimant("/user.slice/user-1000.slice/session-3.scope"))
        #expect(claimant("/docker/a") == .unnamedSandbox(unit: "/docker/a"))
        #expect(
            claimant("/a.scope") { $0.attestedName = "flatpak:org.example.Game" }
                == .sandbox("flatpak:org.example.Game"))
        // They share one quota with each other and with unidentified callers.
        #expect(own.orAllUnnamed == claimant("/other.scope").orAllUnnamed)
        #expect(own.orAllUnnamed == claimant("/a.scope") { $0.isPinned = false }.orAllUnnamed)
    }

    @Test("a program counts as one for consumed quota, and by process for slots")
    func spender() {
        var (one, other) = (PeerFacts.outside, PeerFacts.outside)
        other.pid = 9
        #expect(Caller(one).claimant != Caller(other).claimant && Caller(one).spender == Caller(other).spender)
        (one.executable, other.executable) = (nil, nil)
        #expect(Caller(one).spender == Caller(other).spender)
    }

    @Test("a required group is needed to administer in addition to being outside, and for nothing else")
    func adminProof() throws {
        var facts = PeerFacts.outside
        facts.lacksAdminProof = true
        let caller = Caller(facts)
        #expect(caller.isOutside && !caller.mayAdminister && caller.tier == .unknown)
        #expect(facts.described["adminProof"] == "missing")
        for (proof, gid, isMet) in [
            (AdminProof.outside, 7, true), (.group(7), 7, true), (.group(7), 8, false), (.group(nil), 0, false),
        ] as [(AdminProof, UInt32, Bool)] {
            var settings = AccessSettings(servedUID: 1000)
            settings.adminProof = proof
            #expect(settings.adminProof.isMet(by: gid) == isMet)
        }
    }

    @Test("a writer on another's connection has only the rights of both, and never administers")
    func handedOn() {
        var sandboxed = PeerFacts.outside
        (sandboxed.pid, sandboxed.rootMount) = (99, .other)
        var system = PeerFacts.outside
        (system.pid, system.executableIsRootOwned) = (98, true)
        let gone = PeerFacts(uid: 1000, gid: 1000, pid: 97)
        for connector in [PeerFacts.outside, system] {
            let inside = Caller(connector).handingOn(to: sandboxed)
            #expect(inside.tier == .sandboxed && inside.facts.pid == 99 && !inside.mayAdminister)
            let beside = Caller(connector).handingOn(to: system)
            #expect(beside.tier == .unknown && beside.facts.pid == 98 && !beside.mayAdminister)
            #expect(Caller(connector).handingOn(to: gone).tier == .unidentified)
        }
        for connector in [sandboxed, gone] {
            let deputy = Caller(connector).handingOn(to: system)
            #expect(deputy.identity == Caller(connector).identity && !deputy.mayAdminister)
            #expect(deputy.facts.described["connectedBy"] == "another process")
        }
    }

    @Test("a process has no facts by default")
    func noFacts() {
        let caller = Caller(PeerFacts(uid: 1000, gid: 1000, pid: 7))
        #expect(caller.tier == .unidentified && caller.id == "pid 7" && !caller.mayAdminister)
        #expect(CallerTier.allCases.sorted() == [.unidentified, .unknown, .systemInstalled, .confined, .sandboxed])
    }

    static let tool = "/home/alice/bin/tool"
    static let build = Sandbox(engine: "podman", id: "build", rights: SandboxRight.allCases)
    static let rows: [TierRow] = [
        TierRow("one by a sandbox's own socket, outside of sandboxes as it is", .sandboxed, "podman:build") {
            $0.sandbox = build
        },
        TierRow("one by a sandbox's own socket that is gone", .sandboxed, "podman:build") {
            ($0.sandbox, $0.isPinned, $0.cgroup, $0.rootMount) = (build, false, nil, .unreadable)
        },
        TierRow("a system service by a sandbox's own socket", .sandboxed, "podman:build") {
            ($0.sandbox, $0.cgroup, $0.systemServiceUID) = (
                build, ControlGroup(path: "/system.slice/relay.service"), $0.uid
            )
        },
        TierRow("a Flatpak by another sandbox's socket", .sandboxed, "flatpak:org.example.Game") {
            ($0.sandbox, $0.rootMount, $0.attestedName) = (build, .other, "flatpak:org.example.Game")
        },
        TierRow("a snap by another sandbox's socket", .sandboxed, "snap:game") {
            ($0.sandbox, $0.label) = (build, .text("snap.game.play (enforce)"))
        },
        TierRow("a Flatpak by its own sandbox's socket", .sandboxed, "flatpak:org.example.Game") {
            ($0.sandbox, $0.rootMount, $0.attestedName) = (
                Sandbox(engine: "flatpak", id: "org.example.Game", rights: []), .other, "flatpak:org.example.Game"
            )
        },
        TierRow("a program of the person's own", .unknown, tool, administers: true) { _ in },
        TierRow("one that hides its executable", .unknown, "pid 4711", administers: true) { $0.executable = nil },
        TierRow("one that only root can change", .systemInstalled, tool, administers: true) {
            $0.executableIsRootOwned = true
        },
        TierRow("one that has ended", .unidentified, "pid 4711") { $0.isPinned = false },
        TierRow("another root", .sandboxed, "container:session-3.scope") { $0.rootMount = .other },
        TierRow("another user namespace", .sandboxed, "container:session-3.scope") { $0.userNamespace = .other },
        TierRow("another pid namespace", .sandboxed, "container:session-3.scope") { $0.pidNamespace = .other },
        TierRow("another network namespace", .sandboxed, "container:session-3.scope") { $0.networkNamespace = .other },
        TierRow("a network namespace that could not be read", .unidentified, "pid 4711") {
            $0.networkNamespace = .unreadable
        },
        TierRow("such a service with a network of its own", .systemInstalled, "system:backup.service") {
            ($0.cgroup, $0.systemServiceUID) = (ControlGroup(path: "/system.slice/backup.service"), 1000)
            $0.networkNamespace = .other
        },
        TierRow("a Flatpak that is called like a snap", .sandboxed, "flatpak:snap.mail.mail") {
            ($0.rootMount, $0.attestedName) = (.other, "flatpak:snap.mail.mail")
        },
        TierRow("a root-owned program in a sandbox", .sandboxed, "container:session-3.scope") {
            $0.rootMount = .other
            $0.executableIsRootOwned = true
        },
        TierRow("a Flatpak that was confirmed", .sandboxed, "flatpak:org.example.Mail") {
            $0.rootMount = .other
            $0.attestedName = "flatpak:org.example.Mail"
        },
        TierRow("a root that could not be read", .unidentified, "pid 4711") { $0.rootMount = .unreadable },
        TierRow("a cgroup that could not be read", .unidentified, "pid 4711") { $0.cgroup = nil },
        TierRow("another root, the rest not read", .sandboxed, "container:pid 4711") {
            ($0.rootMount, $0.userNamespace, $0.pidNamespace) = (.other, .unreadable, .unreadable)
            $0.cgroup = nil
        },
        TierRow("a sandbox's cgroup on the host", .unknown, "cgroup:app-flatpak-org.example.Mail-7.scope") {
            $0.cgroup = ControlGroup(
                path: "/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.example.Mail-7.scope")
            $0.executableIsRootOwned = true
        },
        TierRow("a service of root's manager", .systemInstalled, "system:backup.service", administers: true) {
            $0.cgroup = ControlGroup(path: "/system.slice/backup.service")
            $0.systemServiceUID = 1000
        },
        TierRow("such a service with mounts of its own", .systemInstalled, "system:backup.service") {
            $0.cgroup = ControlGroup(path: "/system.slice/backup.service")
            $0.systemServiceUID = 1000
            $0.rootMount = .other
        },
        TierRow("a user's job in a service of root's", .unknown, tool, administers: true) {
            $0.cgroup = ControlGroup(path: "/system.slice/cron.service")
        },
        TierRow(
            "a container that has the group that all of podman's have", .sandboxed,
            "container:user@1000.service/user.slice/libpod-7f3a.scope/container"
        ) {
            $0.cgroup = ControlGroup(
                path: "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-7f3a.scope/container")
            $0.rootMount = .other
        },
        TierRow(
            "a container that made a group of another one's name in its own", .sandboxed,
            "container:user@1000.service/user.slice/libpod-evil.scope/session-3.scope"
        ) {
            $0.cgroup = ControlGroup(
                path: "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-evil.scope/session-3.scope")
            $0.rootMount = .other
        },
        TierRow("a container in another user's slice", .sandboxed, "container:/user.slice/user-7.slice/session-3.scope")
        {
            $0.cgroup = ControlGroup(path: "/user.slice/user-7.slice/session-3.scope")
            $0.rootMount = .other
        },
        TierRow("a container in a group that is longer than anybody's", .sandboxed, "container:pid 4711") {
            $0.cgroup = ControlGroup(path: "/user.slice/" + String(repeating: "long/", count: 300))
            $0.rootMount = .other
        },
        TierRow("a container within a service", .sandboxed, "container:/system.slice/backup.service/payload") {
            $0.cgroup = ControlGroup(path: "/system.slice/backup.service/payload")
            $0.systemServiceUID = 1000
            $0.rootMount = .other
        },
        TierRow("AppArmor's word for free", .unknown, tool, administers: true) { $0.label = .text("unconfined") },
        TierRow("a profile that complains", .unknown, tool, administers: true) { $0.label = .text("tool (complain)") },
        TierRow("a profile that allows all", .unknown, tool, administers: true) {
            $0.label = .text("chrome (unconfined)")
        },
        TierRow("a profile that is enforced", .confined, "tool (enforce)") { $0.label = .text("tool (enforce)") },
        TierRow("one that is confined and has ended", .unidentified, "pid 4711") {
            $0.label = .text("tool (enforce)")
            $0.isPinned = false
        },
        TierRow("a profile that kills", .confined, "tool (kill)") { $0.label = .text("tool (kill)") },
        TierRow("stacked profiles", .confined, "a//&b (enforce)") { $0.label = .text("a//&b (enforce)") },
        TierRow("a snap", .sandboxed, "snap:mail") { $0.label = .text("snap.mail.mail (enforce)") },
        TierRow("a snap that has ended", .sandboxed, "snap:mail") {
            $0.label = .text("snap.mail.mail (enforce)")
            $0.isPinned = false
        },
        TierRow("a classic snap", .unknown, tool, administers: true) { $0.label = .text("snap.mail.mail (complain)") },
        TierRow("SELinux's word for free", .unknown, tool, administers: true) {
            $0.label = .text("unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023")
        },
        TierRow("a domain of SELinux", .confined, "staff_u:staff_r:staff_t:s0") {
            $0.label = .text("staff_u:staff_r:staff_t:s0")
        },
        TierRow(
            "a container of SELinux's", .sandboxed, "container:system_u:system_r:container_t:s0:c1,c2"
        ) { $0.label = .text("system_u:system_r:container_t:s0:c1,c2") },
        TierRow("a label that could not be read", .unidentified, "pid 4711") { $0.label = .unreadable },
    ]
}

@Suite("Facts from a cgroup's path")
struct ControlGroupTests {
    @Test("the unified hierarchy's line counts, and systemd's own if there is none")
    func lines() {
        #expect(ControlGroup(file: "12:pids:/x\n0::/user.slice/a.scope\n").path == "/user.slice/a.scope")
        #expect(ControlGroup(file: "9:name=systemd:/b\n8:pids:/\n").path == "/b")
        #expect(ControlGroup(file: "8:pids:/x\n").path == "/")
        #expect(ControlGroup(file: "").path == "/")
        // A name may contain anything except a slash and a newline.
        #expect(ControlGroup(file: "1:name=systemd:/a\r\n0::/b\n").path == "/b")
        #expect(ControlGroup(file: "12:pids:/x:name=systemd:/y\n1:name=systemd:/b\n").path == "/b")
        #expect(ControlGroup(file: "1:name=systemd:/a\n0::/\u{301}b\n").path == "/\u{301}b")
    }

    @Test(
        "a service of the system's manager is recognized by its exact place",
        arguments: [
            ("/system.slice/cron.service", "cron.service"), ("/system.slice/a.slice/b.service", "b.service"),
            ("/system.slice/a.service/b", nil), ("/system.slice/a.service/b.service", nil),
            ("/system.slice/a.service/\u{301}b.service", nil),
            ("/user.slice/user-1.slice/user@1.service/app.slice/x.service", nil), ("/system.slice", nil), ("/", nil),
        ])
    func systemServices(path: String, service: String?) {
        #expect(ControlGroup(path: path).systemService == service)
    }

    @Test("user units are hints, and names of sandboxes are found anywhere in the path")
    func names() {
        let manager = "/user.slice/user-1000.slice/user@1000.service"
        #expect(ControlGroup(path: manager + "/app.slice/mail.service").userUnit == "mail.service")
        #expect(ControlGroup(path: "/user.slice/user-1000.slice/session-2.scope").userUnit == nil)
        for name in ["libpod-abc.scope", "podman-7.scope", "app-flatpak-a.b.c-1.scope", "snap.x.y-1.scope"] {
            #expect(ControlGroup(path: "\(manager)/user.slice/\(name)").sandboxName == name)
        }
        #expect(ControlGroup(path: "/docker/0123").sandboxName == "docker")
        #expect(ControlGroup(path: "/machine.slice/machine-x.scope").sandboxName == "machine-x.scope")
        #expect(ControlGroup(path: manager + "/app.slice/mail.service").sandboxName == nil)
    }
}
