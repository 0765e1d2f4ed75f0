import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `broker.…` and `rpc.discover`.
struct BrokerHandlers: Sendable {
    let services: ServerServices

    var all: [AnyHandler] {
        [
            .waiting(GetBrokerStatus.self) { request throws(BrokerError) in
                try status(connections: request.context.connectionCount())
            },
            .waiting(LockBroker.self) { request in
                await services.broker.lock.lock(because: "asked by \(request.context.caller.id)")
                return LockState(locked: services.broker.lock.isLocked)
            },
            .waiting(UnlockBroker.self) { request throws(BrokerError) in
                try await services.broker.lock.unlock(
                    passphrase: request.params.passphrase.map { Secret($0) }, caller: request.context.caller.id)
                return LockState(locked: services.broker.lock.isLocked)
            },
            .atOnce(Subscribe.self, outcome: { _, _ in RequestOutcome(words: Subscribe.name, level: .debug) }) {
                request throws(BrokerError) in
                try subscribe(request)
                return Subscribe.Result(subscribed: EventTopic.allCases.filter(request.params.topics.contains))
            },
            .atOnce(DiscoverMethods.self) { _ in OpenRPCDocument.json },
        ]
    }

    private func status(connections: Int) throws(BrokerError) -> GetBrokerStatus.Result {
        var status = GetBrokerStatus.Result()
        status.version = services.process.version
        status.protocol = OpenRPCDocument.protocolVersion
        status.uptime = (services.clock.uptime - services.process.startedAt).components.seconds
        status.mode = services.process.mode
        status.locked = services.broker.lock.isLocked
        status.device.mode = services.broker.isSharedDevice ? .shared : .private
        status.connections = Int64(connections)
        status.refreshesInFlight = Int64(services.broker.refreshesInFlight)
        do throws(VaultError) {
            let vault = try services.vault.statistics()
            status.vault.path = vault.path
            status.vault.keySource = vault.keySource
            status.vault.records = Int64(vault.records)
        } catch {
            throw BrokerError(error)
        }
        return status
    }

    /// The engine's events become notifications on the subscriber's connection.
    private func subscribe(_ request: Request<Subscribe>) throws(BrokerError) {
        let (context, topics) = (request.context, Set(request.params.topics))
        // The one that it replaces makes room for it.
        context.subscribe(nil)
        guard !topics.isEmpty else { return }
        context.subscribe(
            try services.broker.subscribe(
                to: topics, group: request.app?.effectiveGroup, of: context.caller.claimant, in: request.partition
            ) { context.notify($0) })
    }
}

extension ConnectionContext {
    fileprivate func notify(_ event: EngineEvent) {
        switch event.change {
        case .account(let change, let account):
            notify(AccountEvent.self, AccountEvent.Params(change, app: event.app, account))
        case .token(let change, let accountID, let scopes, let expiresOn):
            notify(
                TokenEvent.self,
                TokenEvent.Params(change, app: event.app, accountId: accountID, scopes: scopes, expiresOn: expiresOn))
        case .interaction(let change, let id, let error):
            notify(
                InteractionEvent.self,
                InteractionEvent.Params(change, app: event.app, interactionId: id, errorKind: error))
        }
    }
}
