import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `broker.…` and `rpc.discover`.
struct BrokerHandlers: Sendable {
    let broker: TokenBroker
    let policy: AccessPolicy
    let vault: any RecordVault
    /// `nil` if the broker serves one user.
    let users: MultiUserServices?
    let process: ProcessFacts
    let clock: any BrokerClock
    let doors: OpenDoors
    let callers: ConnectedCallers
    let counts: RequestCounts

    var all: [any AnyMethodHandler] { [getStatus, getMetrics, lock, unlock, listCallers, discover] }

    private var getStatus: MethodHandler<GetBrokerStatus> {
        .waiting(GetBrokerStatus.self) { request throws(BrokerError) in
            var status = try status(request.context)
            let caller = request.context.callerNow()
            status.caller = GetBrokerStatus.Caller(
                caller.identity, administers: caller.mayAdminister, rights: caller.facts.sandbox?.rights)
            return status
        }
    }

    private var getMetrics: MethodHandler<GetMetrics> {
        .waiting(GetMetrics.self) { request throws(BrokerError) in
            try metrics(connections: request.context.connectionCount())
        }
    }

    private var lock: MethodHandler<LockBroker> {
        .waiting(LockBroker.self, outcome: { _, _ in RequestOutcome(words: "the broker was locked") }) { request in
            await broker.lock.lock(because: "asked by \(request.context.caller.id)")
            return LockState(locked: broker.lock.isLocked)
        }
    }

    private var unlock: MethodHandler<UnlockBroker> {
        .waiting(UnlockBroker.self, outcome: { _, _ in RequestOutcome(words: "the broker was unlocked") }) {
            request throws(BrokerError) in
            try await broker.lock.unlock(
                passphrase: request.params.passphrase.map { Secret($0) }, caller: request.context.caller.id)
            return LockState(locked: broker.lock.isLocked)
        }
    }

    private var listCallers: MethodHandler<ListCallers> {
        .waiting(ListCallers.self) { request in
            ListCallers.Result(
                callers: callers.all(in: request.partition).map {
                    ListCallers.ConnectedCaller($0.identity, administers: $0.mayAdminister, facts: $0.described)
                })
        }
    }

    private var discover: MethodHandler<DiscoverMethods> {
        MethodHandler(DiscoverMethods.self) { _ in
            .done(CompletedWork(answer: .json(OpenRPCDocument.bytes), outcome: .answered(DiscoverMethods.self)))
        }
    }

    private func status(_ context: ConnectionContext) throws(BrokerError) -> GetBrokerStatus.Result {
        let partition = context.caller.partition
        let seesAll = policy.isOwner(context.caller)
        var status = GetBrokerStatus.Result()
        status.version = process.version
        status.protocol = OpenRPCDocument.protocolVersion
        status.uptime = uptime
        status.mode = process.mode
        status.locked = broker.lock.isLocked
        status.device.mode = broker.isSharedDevice ? .shared : .private
        // The paths of the person's files do not concern a sandbox, which may be on another machine.
        let isOutside = context.caller.isOutside
        status.configuration = isOutside ? process.configuration() : nil
        status.doors = isOutside ? doors.all : nil
        // Where the broker serves many users, each sees only their own.
        status.connections = Int64(
            seesAll ? context.connectionCount() : callers.all(in: partition).count)
        status.refreshesInFlight = seesAll ? Int64(broker.refreshesInFlight) : 0
        do throws(VaultError) {
            let found = try vault.statistics()
            let file = found.path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
            status.vault.path = isOutside ? found.path : file
            status.vault.keySource = found.keySource
            status.vault.records = Int64(
                seesAll ? found.records : try vault.statistics(of: partition).recordsWithoutLog)
            status.vault.quarantined = seesAll ? Int64(found.quarantined) : 0
            status.vault.missing = seesAll ? Int64(found.missing) : 0
            if seesAll, let users { status.partitions = Int64(try users.partitions().count) }
            status.vault.rolledBack = vault.isRolledBack(partition)
        } catch {
            throw BrokerError(error)
        }
        return status
    }

    private func metrics(connections: Int) throws(BrokerError) -> GetMetrics.Result {
        var metrics = GetMetrics.Result()
        metrics.version = process.version
        metrics.uptime = uptime
        metrics.locked = broker.lock.isLocked
        metrics.connections = Int64(connections)
        metrics.requests = counts.requests
        metrics.doors = counts.doors
        metrics.latencies = counts.latencies
        metrics.refreshes = broker.refreshOutcomes.all.map { GetMetrics.OutcomeCount($0.outcome, $0.count) }
        metrics.refreshesInFlight = Int64(broker.refreshesInFlight)
        metrics.interactions = Int64(broker.interactionsOpen)
        metrics.unguardedSecrets = UnguardedSecrets.count
        metrics.residentBytes = process.residentBytes().map(Int64.init)
        do throws(VaultError) {
            let found = try vault.statistics()
            metrics.vault.records = Int64(found.records)
            metrics.vault.errors = found.errors
            metrics.vault.quarantined = Int64(found.quarantined)
            metrics.vault.missing = Int64(found.missing)
        } catch {
            throw BrokerError(error)
        }
        return metrics
    }

    private var uptime: Int64 { (clock.uptime - process.startedAt).components.seconds }
}
