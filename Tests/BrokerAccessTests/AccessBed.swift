import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Foundation

/// A policy and a directory over a real vault in a folder of its own.
final class AccessBed: Sendable {
    let directory: AppDirectory
    let policy: AccessPolicy
    let grants: GrantStore
    let gate: LockGate
    let stop = StopSignal()
    let clock = ManualClock()
    private let random = CountingRandom()
    private let folder: String
    let vault: FaultyVault
    let log = LogCollector()

    static let partition = Sample.partition

    init(
        grantMemory: Int = 32 << 20, presence: (any PresenceAuthority)? = nil, accounts: [String: String] = [:],
        _ change: (inout AccessSettings) -> Void = { _ in }
    ) async throws {
        folder = NSTemporaryDirectory() + "access-\(UUID().uuidString)"
        vault = try await FaultyVault.open(in: folder)
        directory = AppDirectory(vault: vault, log: log.logger)
        var settings = AccessSettings(servedUID: 1000)
        change(&settings)
        grants = GrantStore(
            vault: vault, clock: clock, random: CountingRandom(), memory: grantMemory, stop: stop, log: log.logger)
        gate = LockGate(clock: clock)
        gate.open()
        policy = AccessPolicy(
            directory: directory, grants: grants, gate: gate, presence: presence,
            accounts: { name, _, _ in accounts[name] }, settings: settings, log: .silent)
    }

    deinit {
        clock.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The directory after a restart of the broker.
    func reopened(_ authorities: AuthorityParser = AuthorityParser()) async throws -> AppDirectory {
        await vault.close()
        return AppDirectory(vault: try await FaultyVault.open(in: folder), authorities: authorities, log: log.logger)
    }

    func change(_ change: (inout AccessSettings) -> Void) {
        var settings = AccessSettings(servedUID: 1000)
        change(&settings)
        policy.apply(settings)
    }

    func admit(
        _ caller: Caller, as reference: AppReference, reaching reach: AppReach = .everything
    ) throws(BrokerError) -> AppRegistration {
        try policy.admit(caller, as: reference, reaching: reach).app
    }

    /// The grants after a restart of the broker.
    func reopenedGrants() async throws -> GrantStore {
        await vault.close()
        return GrantStore(
            vault: try await FaultyVault.open(in: folder), clock: clock, random: CountingRandom(), log: .silent)
    }

    /// The audit log after a restart of the broker.
    func auditLog(
        _ bounds: AuditLog.Bounds = AuditLog.Bounds(), payer: @escaping @Sendable (Partition) -> Partition = { $0 }
    ) -> AuditLog {
        AuditLog(vault: vault, clock: clock, random: random, payer: payer, log: log.logger, bounds: bounds)
    }

    static func app(_ name: String = "mail", authority: String = "https://id.example.org") -> AppRegistration {
        Sample.app(name, at: Sample.authority(authority))
    }

    func caller(_ change: (inout PeerFacts) -> Void = { _ in }) throws -> Caller {
        var facts = PeerFacts.outside
        change(&facts)
        try policy.serves(PeerCredentials(uid: facts.uid, gid: facts.gid, pid: facts.pid))
        return Caller(facts)
    }
}

extension PeerFacts {
    /// A program of the person, in a session of theirs.
    static var outside: PeerFacts {
        var facts = PeerFacts(uid: 1000, gid: 1000, pid: 4711)
        facts.isPinned = true
        (facts.rootMount, facts.userNamespace) = (.same, .same)
        (facts.pidNamespace, facts.networkNamespace) = (.same, .same)
        facts.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/session-3.scope")
        facts.executable = "/home/alice/bin/tool"
        return facts
    }
}

extension AccessPolicy {
    func admit(
        _ caller: Caller, as reference: AppReference, reaching reach: AppReach
    ) throws(BrokerError) -> Admission<AppRegistration> {
        let admitted = try admit(
            reference, AdmissionRequest(caller, now: { caller }, connectedAt: .zero, reaching: reach))
        leave(neededKeys: true)
        return admitted
    }
}
