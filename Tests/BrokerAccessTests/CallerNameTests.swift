import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Typed names of callers")
struct CallerNameTests {
    private static func flatpak(_ id: String) -> @Sendable (inout PeerFacts) -> Void {
        { ($0.rootMount, $0.attestedName) = (.other, CallerName.flatpak(id)) }
    }

    private static func snap(_ label: String) -> @Sendable (inout PeerFacts) -> Void {
        { $0.label = .text("\(label) (enforce)") }
    }

    private static func userUnit(_ name: String) -> @Sendable (inout PeerFacts) -> Void {
        {
            $0.cgroup = ControlGroup(
                path: "/user.slice/user-1000.slice/user@1000.service/app.slice/\(name)")
        }
    }

    private static func systemUnit(_ name: String) -> @Sendable (inout PeerFacts) -> Void {
        { ($0.cgroup, $0.systemServiceUID) = (ControlGroup(path: "/system.slice/\(name)"), 1000) }
    }

    private func isListed(
        _ change: @Sendable (inout PeerFacts) -> Void, withOthers: Bool = false, units: [String] = [],
        sandboxes: [String] = []
    ) async throws -> Bool {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        (app.units, app.sandboxIDs) = (units, sandboxes)
        try await bed.directory.register(app, in: AccessBed.partition)
        let caller = try bed.caller {
            change(&$0)
            $0.isServedWithOthers = withOthers
        }
        return (try? bed.admit(caller, as: .registered("mail"))) != nil
    }

    @Test("a list's typed name matches the caller of that type only")
    func types() async throws {
        let unit = "backup.service"
        for (change, units, isListed) in [
            (Self.systemUnit(unit), ["system:backup.service"], true),
            (Self.userUnit(unit), ["system:backup.service"], false),
            (Self.userUnit(unit), ["user:backup.service"], true),
            (Self.systemUnit(unit), ["user:backup.service"], false),
        ] {
            #expect(try await self.isListed(change, units: units) == isListed, "\(units)")
        }
        for (change, id, isListed) in [
            (Self.flatpak("org.example.Mail"), "flatpak:org.example.Mail", true),
            (Self.flatpak("snap.x.y"), "flatpak:snap.x.y", true), (Self.flatpak("snap.x.y"), "snap:x", false),
            (Self.snap("snap.x.y"), "snap:x", true), (Self.snap("snap.x.y"), "flatpak:snap.x.y", false),
            (Self.snap("snap.xx.y"), "snap:x", false),
        ] {
            #expect(try await self.isListed(change, sandboxes: [id]) == isListed, "\(id)")
        }
    }

    @Test("a unit without a type is a user unit, or a system unit if the broker serves all users")
    func untypedUnits() async throws {
        let units = ["backup.service"]
        #expect(try await isListed(Self.userUnit("backup.service"), units: units))
        #expect(try await !isListed(Self.systemUnit("backup.service"), units: units))
        #expect(try await isListed(Self.systemUnit("backup.service"), withOthers: true, units: units))
        for units in [units, ["user:backup.service"]] {
            #expect(try await !isListed(Self.userUnit("backup.service"), withOthers: true, units: units))
        }
    }

    @Test("a unit whose own name begins like a type does not get that type", arguments: ["system:", "user:"])
    func disguisedUnit(type: String) async throws {
        #expect(try await !isListed(Self.userUnit(type + "backup.service"), units: [type + "backup.service"]))
        #expect(try await isListed(Self.userUnit(type + "x.service"), units: ["user:\(type)x.service"]))
        #expect(try await !isListed(Self.systemUnit(type + "x.service"), withOthers: true, units: [type + "x.service"]))
    }

    @Test("untyped names in lists still match: an id is a Flatpak's, and a snap's profile is the snap's")
    func untypedSandboxes() async throws {
        #expect(try await isListed(Self.flatpak("org.example.Mail"), sandboxes: ["org.example.Mail"]))
        #expect(try await isListed(Self.snap("snap.mail.mail"), sandboxes: ["snap.mail.mail"]))
        #expect(try await !isListed(Self.flatpak("snap.mail.mail"), sandboxes: ["snap.mail.mail"]))
    }

    @Test(
        "grants of an earlier version stay valid under typed names",
        arguments: [
            (CallerTier.sandboxed, "org.example.Mail", "flatpak:org.example.Mail"),
            (.sandboxed, "snap.mail.mail", "snap:mail"),
            (.sandboxed, "podman:build", "podman:build"), (.sandboxed, "container:x.scope", "container:x.scope"),
            (.systemInstalled, "backup.service", "system:backup.service"),
            (.systemInstalled, "/opt/x.service", "/opt/x.service"), (.unknown, "/home/x.service", "/home/x.service"),
        ])
    func earlierGrants(tier: CallerTier, earlier: String, typed: String) async throws {
        let bed = try await AccessBed()
        let grant = Grant(
            id: "old", caller: CallerIdentity(tier: tier, id: earlier), app: "mail", createdOn: bed.clock.now)
        let sealed = try bed.vault.seal(
            GrantRecord(grant: grant, app: AccessBed.app()), secret: nil, in: AccessBed.partition
        ).sealed
        try await bed.vault.commit(VaultChange(in: AccessBed.partition, puts: [sealed]))
        #expect(try bed.grants.list(in: AccessBed.partition).grants.map(\.caller.id) == [typed])
    }

    @Test("a Flatpak and a snap use the grants that they had before names had types")
    func usedGrants() async throws {
        for (change, earlier) in [
            (Self.flatpak("org.example.Mail"), "org.example.Mail"), (Self.snap("snap.mail.mail"), "snap.mail.mail"),
        ] {
            let bed = try await AccessBed()
            let app = AccessBed.app()
            try await bed.directory.register(app, in: AccessBed.partition)
            _ = try await bed.grants.approve(
                CallerIdentity(tier: .sandboxed, id: earlier), as: app, .init(), in: AccessBed.partition)
            #expect(try bed.admit(try bed.caller(change), as: .registered("mail")) == app)
            #expect(throws: BrokerError.self) {
                try bed.admit(try bed.caller(Self.flatpak("org.example.Other")), as: .registered("mail"))
            }
        }
    }

    @Test("a sandbox's own client ids keep their accounts, and no Flatpak gets a snap's")
    func clientSpaces() async throws {
        func space(_ change: @Sendable (inout PeerFacts) -> Void) async throws -> String? {
            let bed = try await AccessBed { $0.tiers.sandboxed = .ask }
            let error = #expect(throws: BrokerError.self) {
                try bed.admit(try bed.caller(change), as: .adHoc(clientID: "c", authority: "https://id.example.org"))
            }
            return error?.details.app
        }
        #expect(try await space(Self.flatpak("org.example.Mail"))?.hasSuffix(" in org.example.Mail") == true)
        #expect(try await space(Self.snap("snap.mail.mail"))?.hasSuffix(" in snap.mail.mail") == true)
        #expect(try await space(Self.flatpak("snap.mail.mail"))?.hasSuffix(" in flatpak:snap.mail.mail") == true)
    }

    @Test("facts have typed names")
    func facts() throws {
        var facts = PeerFacts.outside
        Self.systemUnit("backup.service")(&facts)
        #expect(facts.described["unit"] == "system:backup.service")
        Self.userUnit("backup.service")(&facts)
        #expect(facts.described["unit"] == "user:backup.service")
        Self.flatpak("org.example.Mail")(&facts)
        #expect(facts.described["flatpak"] == "flatpak:org.example.Mail")
    }
}
