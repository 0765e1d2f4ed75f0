import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `broker.…` and `rpc.discover`.
struct BrokerHandlers: Sendable {
    let services: ServerServices

    var all: [any AnyMethodHandler] {
        [
            .waiting(GetBrokerStatus.self) { request throws(BrokerError) in
                var status = try status(request.context)
                let caller = request.context.callerNow()
                status.caller = GetBrokerStatus.Caller(
                    caller.identity, administers: caller.mayAdminister, rights: caller.facts.sandbox?.rights)
                return status
            },
            .waiting(GetMetrics.self) { request throws(BrokerError) in
                try metrics(connections: request.context.connectionCount())
            },
            .waiting(LockBroker.self, outcome: { _, _ in RequestOutcome(words: "the broker was locked") }) { request in
                await services.broker.lock.lock(because: "asked by \(request.context.caller.id)")
                return LockState(locked: services.broker.lock.isLocked)
            },
            .waiting(UnlockBroker.self, outcome: { _, _ in RequestOutcome(words: "the broker was unlocked") }) {
                request throws(BrokerError) in
                try await services.broker.lock.unlock(
                    passphrase: request.params.passphrase.map { Secret($0) }, caller: request.context.caller.id)
                return LockState(locked: services.broker.lock.isLocked)
            },
            .atOnce(
                Subscribe.self,
                outcome: { _, _ in RequestOutcome(words: "\(Subscribe.name)", level: .debug, audited: .nothing) }
            ) {
                request throws(BrokerError) in
                try subscribe(request)
                return Subscribe.Result(subscribed: EventTopic.allCases.filter(request.params.topics.contains))
            },
            .waiting(ListCallers.self) { request in
                ListCallers.Result(
                    callers: services.connected.all(in: request.partition).map {
                        ListCallers.ConnectedCaller(
                            $0.identity, administers: $0.mayAdminister, facts: $0.described)
                    })
            },
            MethodHandler(DiscoverMethods.self) { _ in
                .done(
                    CompletedWork(answer: .json(OpenRPCDocument.bytes), outcome: .answered(DiscoverMethods.self)))
            },
        ]
    }

    private func status(_ context: ConnectionContext) throws(BrokerError) -> GetBrokerStatus.Result {
        let partition = context.caller.partition
        let seesAll = services.policy.isOwner(context.caller)
        var status = GetBrokerStatus.Result()
        status.version = services.process.version
        status.protocol = OpenRPCDocument.protocolVersion
        status.uptime = uptime
        status.mode = services.process.mode
        status.locked = services.broker.lock.isLocked
        status.device.mode = services.broker.isSharedDevice ? .shared : .private
        // Where the person's files lie is nothing to a sandbox, which may be on another machine.
        let isOutside = context.caller.isOutside
        status.configuration = isOutside ? services.process.configuration() : nil
        status.doors = isOutside ? services.doors.all : nil
        // Who is one of many sees what is their own.
        status.connections = Int64(
            seesAll ? context.connectionCount() : services.connected.all(in: partition).count)
        status.refreshesInFlight = seesAll ? Int64(services.broker.refreshesInFlight) : 0
        do throws(VaultError) {
            let vault = try services.vault.statistics()
            let file = vault.path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
            status.vault.path = isOutside ? vault.path : file
            status.vault.keySource = vault.keySource
            status.vault.records = Int64(
                seesAll ? vault.records : try services.vault.statistics(of: partition).recordsWithoutLog)
            status.vault.quarantined = seesAll ? Int64(vault.quarantined) : 0
            status.vault.missing = seesAll ? Int64(vault.missing) : 0
            if seesAll, let users = services.users { status.partitions = Int64(try users.partitions().count) }
            status.vault.rolledBack = services.vault.isRolledBack(partition)
        } catch {
            throw BrokerError(error)
        }
        return status
    }

    private func metrics(connections: Int) throws(BrokerError) -> GetMetrics.Result {
        var metrics = GetMetrics.Result()
        metrics.version = services.process.version
        metrics.uptime = uptime
        metrics.locked = services.broker.lock.isLocked
        metrics.connections = Int64(connections)
        metrics.requests = services.counts.requests
        metrics.doors = services.counts.doors
        metrics.latencies = services.counts.latencies
        metrics.refreshes = services.broker.refreshOutcomes.all.map { GetMetrics.OutcomeCount($0.outcome, $0.count) }
        metrics.refreshesInFlight = Int64(services.broker.refreshesInFlight)
        metrics.interactions = Int64(services.broker.interactionsOpen)
        metrics.unguardedSecrets = UnguardedSecrets.count
        metrics.residentBytes = services.process.residentBytes().map(Int64.init)
        do throws(VaultError) {
            let vault = try services.vault.statistics()
            metrics.vault.records = Int64(vault.records)
            metrics.vault.errors = vault.errors
            metrics.vault.quarantined = Int64(vault.quarantined)
            metrics.vault.missing = Int64(vault.missing)
        } catch {
            throw BrokerError(error)
        }
        return metrics
    }

    private var uptime: Int64 { (services.clock.uptime - services.process.startedAt).components.seconds }

    /// What happens becomes notifications on the subscriber's connection.
    private func subscribe(_ request: Request<Subscribe>) throws(BrokerError) {
        let (context, topics) = (request.context, Set(request.params.topics))
        // Those that they replace make room for them.
        context.subscribe([])
        guard !topics.isEmpty else { return }
        let (policy, caller) = (services.policy, context.caller)
        let admitted = Admission(app: request.app, grant: request.grant)
        var all = [
            try services.broker.subscribe(
                to: topics, group: request.app?.effectiveGroup, of: context.caller.claimant, in: request.partition
            ) { event in
                guard policy.mayListen(caller, as: admitted, to: event.app), admitted.covers(event),
                    !context.hasMoved(false), !context.hasEnded()
                else { return }
                context.notify(event, toAll: request.app == nil)
            }
        ]
        // What others ask for is the person's business.
        if topics.contains(.grant), request.app == nil {
            all.append(
                policy.grants.subscribe(in: request.partition) { event in
                    guard policy.mayListen(caller, as: admitted), !context.hasMoved(false), !context.hasEnded() else {
                        return
                    }
                    context.notify(
                        GrantNotification.self,
                        GrantNotification.Params(event.change, request: event.request, grant: event.grant))
                })
        }
        context.subscribe(all)
    }
}

extension Admission<AppRegistration?> {
    /// Whether the grant that a listener was let in by is for what was told.
    fileprivate func covers(_ event: EngineEvent) -> Bool {
        guard let grant, case .token(_, let accountID, let scopes, _) = event.change else { return true }
        return grant.covers(accountID: accountID, scopes: scopes)
    }
}

extension ConnectionContext {
    /// - Parameter toAll: whether it listens for the person, who may know who else asks; an app may not.
    fileprivate func notify(_ event: EngineEvent, toAll: Bool) {
        switch event.change {
        case .account(let change, let account):
            notify(AccountEvent.self, AccountEvent.Params(change, app: event.app.name, account))
        case .token(let change, let accountID, let scopes, let expiresOn):
            notify(
                TokenEvent.self,
                TokenEvent.Params(
                    change, app: event.app.name, accountId: accountID, scopes: scopes, expiresOn: expiresOn))
        case .interaction(let change, let id, let asker, let error):
            notify(
                InteractionEvent.self,
                InteractionEvent.Params(
                    change, app: event.app.name, interactionId: id, caller: toAll ? asker : nil, errorKind: error))
        }
    }
}
