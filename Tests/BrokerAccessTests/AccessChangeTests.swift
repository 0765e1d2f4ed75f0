import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

/// Whoever was let in a moment ago is let in again by it (``AccessPolicy/admitAgain(_:connectedAt:)``).
@Suite("What lets a caller in again")
struct AccessChangeTests {
    private func counts(
        _ what: String, on bed: AccessBed, _ change: () async throws -> Void,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = bed.policy.changes
        try await change()
        #expect(bed.policy.changes > before, "\(what)", sourceLocation: location)
    }

    private func isLetIn(_ caller: Caller, by policy: AccessPolicy) -> Bool {
        guard policy.admitAgain(caller, connectedAt: .zero) else { return false }
        policy.leave(neededKeys: true)
        return true
    }

    @Test("each change of what is registered counts, and is counted when its caller hears of it")
    func registrations() async throws {
        let bed = try await AccessBed()
        let directory = bed.directory
        try await counts("a registration", on: bed) {
            try await directory.register(AccessBed.app(), in: AccessBed.partition)
        }
        var limited = AccessBed.app()
        limited.allowedScopes = ["mail.read"]
        try await counts("another one in its place", on: bed) {
            try await directory.register(limited, in: AccessBed.partition)
        }
        try await counts("one of a backup", on: bed) {
            _ = try await directory.restore(
                AppRecord(AccessBed.app()), clientSecret: nil, replacing: true, in: AccessBed.partition)
        }
        try await counts("a removal", on: bed) {
            _ = try await directory.remove(named: "mail", in: AccessBed.partition)
        }
        var entry = AppFileEntry(name: "mail", origin: "/etc/brokerd/apps.d/mail.toml:3")
        (entry.description.clientID, entry.authority) = ("of-file", AccessBed.app().authority.url)
        try await counts("files", on: bed) { directory.apply([entry]) }
        try await counts("their end", on: bed) { directory.apply([AppFileEntry]()) }
        try await counts("kinds of providers", on: bed) {
            directory.apply(AuthorityParser(kinds: ["login.corp.example": .adfs]))
        }
        try await counts("a state of the vault that is read anew", on: bed) { directory.forget() }
    }

    @Test("so does each change of the settings")
    func settings() async throws {
        let bed = try await AccessBed()
        for change in [
            { $0.tiers.unknown = .deny }, { $0.allowsAdHocClients = false }, { $0.allowsPrivateAuthorities = false },
            { $0.authorities = AuthorityParser(kinds: ["login.corp.example": .adfs]) },
        ] as [(inout AccessSettings) -> Void] {
            try await counts("a setting", on: bed) { bed.change(change) }
        }
    }

    @Test("who looks changes nothing, nor does what was refused, nor a partition that memory had to let go")
    func looks() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        let before = bed.policy.changes
        _ = try bed.admit(bed.caller(), as: .registered("mail"))
        _ = try bed.directory.list(in: Partition(uid: 4_711))
        await #expect(throws: BrokerError.self) {
            try await bed.directory.register(AccessBed.app(), overPrevious: .isKept, in: AccessBed.partition)
        }
        bed.vault.failWriting(.full("no space"))
        await #expect(throws: BrokerError.self) {
            try await bed.directory.register(AccessBed.app("other"), in: AccessBed.partition)
        }
        #expect(bed.policy.changes == before)
    }

    @Test("nobody is let in while the gate is shut, nor after it was idle for too long; who is let in counts as a use")
    func gate() async throws {
        let bed = try await AccessBed()
        let gate = WorkGate(clock: bed.clock)
        let policy = AccessPolicy(
            directory: bed.directory, grants: bed.grants, gate: gate, settings: AccessSettings(servedUID: 1000),
            log: .silent)
        let caller = try bed.caller()
        #expect(!isLetIn(caller, by: policy))
        gate.open()
        gate.limitIdleTime(to: .seconds(10))
        for _ in 1...3 {
            bed.clock.advance(bySeconds: 9)
            #expect(isLetIn(caller, by: policy))
        }
        bed.clock.advance(bySeconds: 10)
        #expect(!isLetIn(caller, by: policy))
        gate.open()
        #expect(policy.admitAgain(caller, connectedAt: .zero))
        #expect(!gate.isIdle(at: bed.clock.uptime + .seconds(60), for: .seconds(10)), "it is under way")
        policy.leave(neededKeys: true)
        await gate.shut()
        #expect(!isLetIn(caller, by: policy))
    }

    @Test("while the vault may be an earlier one, who administers is let in, and nobody else")
    func rollback() async throws {
        let bed = try await AccessBed()
        let sandboxed = try bed.caller {
            $0.flatpakID = "org.example.Game"; $0.rootMount = .other
        }
        let unproven = try bed.caller { $0.lacksAdminProof = true }
        for caller in [sandboxed, unproven, try bed.caller()] { #expect(isLetIn(caller, by: bed.policy)) }
        bed.vault.rollBack()
        #expect(!isLetIn(sandboxed, by: bed.policy) && !isLetIn(unproven, by: bed.policy))
        #expect(isLetIn(try bed.caller(), by: bed.policy))
        try await bed.vault.acceptState(of: AccessBed.partition)
        #expect(isLetIn(sandboxed, by: bed.policy))
    }

    private struct Alice: AccountNames {
        func name(of uid: UInt32) async throws(AccountNamesUnavailable) -> String? { "alice" }
    }

    @Test("where there are many users, nobody is let in whose account was not looked up a moment ago")
    func owners() async throws {
        let bed = try await AccessBed()
        let gate = WorkGate(clock: bed.clock)
        gate.open()
        let owners = PartitionOwners(vault: bed.vault, accounts: Alice(), clock: bed.clock, log: .silent)
        let policy = AccessPolicy(
            directory: bed.directory, grants: bed.grants, gate: gate, owners: owners,
            settings: AccessSettings(audience: .everybody(overflow: 65_534)), log: .silent)
        let caller = try bed.caller()
        #expect(!isLetIn(caller, by: policy))
        try await owners.check(AccessBed.partition, connectedAt: .zero)
        #expect(isLetIn(caller, by: policy))
        bed.clock.advance(bySeconds: 60)
        #expect(!isLetIn(caller, by: policy))
        try await owners.check(AccessBed.partition, connectedAt: .zero)
        #expect(isLetIn(caller, by: policy))
        owners.forget(AccessBed.partition)
        #expect(!isLetIn(caller, by: policy))
    }
}
