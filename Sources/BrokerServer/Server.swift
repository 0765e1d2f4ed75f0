import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// The service, its methods and its connections, wired once. Each gets what it uses; none knows this place.
package struct Server: Sendable {
    /// For the fronts.
    package let requests: RequestService
    package let doors = OpenDoors()
    private let connections: ConnectionParts

    package init(_ parts: ServerParts) {
        let all = AllConnections(requests: UserRequests(most: parts.requestsPerUser))
        let counts = RequestCounts()
        let log = RequestLog(parts.log, parts.audit, counts, parts.names, clock: parts.clock)
        let (broker, policy) = (parts.broker, parts.policy)
        let interactions = InteractionStart(
            mode: parts.process.mode, interactions: CallerAllowance(.interactions, clock: parts.clock),
            browsers: parts.browsers)
        let tokens = TokenHandlers(broker: broker, policy: policy, interactions: interactions)
        let checks = WatchChecks(tokens: tokens, broker: broker, policy: policy, vault: parts.vault, log: log)
        let watches = Watches(checks: checks, policy: policy, clock: parts.clock)
        let watchHandlers = WatchHandlers(
            tokens: tokens, broker: broker, policy: policy, checks: checks, watches: watches, clock: parts.clock)

        let handlers: [[any AnyMethodHandler]] = [
            tokens.all,
            watchHandlers.all,
            InteractionHandlers(broker: broker).all,
            AccountHandlers(broker: broker, apps: parts.apps, policy: policy, interactions: interactions).all,
            AppHandlers(apps: parts.apps, broker: broker, policy: policy).all,
            CacheHandlers(
                broker: broker, policy: policy, vault: parts.vault, users: parts.users, process: parts.process
            ).all,
            GrantHandlers(broker: broker, apps: parts.apps, policy: policy).all,
            SandboxHandlers(apps: parts.apps, sandboxes: parts.sandboxes).all,
            AuditHandlers(audit: parts.audit).all,
            BrokerHandlers(
                broker: broker, policy: policy, vault: parts.vault, users: parts.users, process: parts.process,
                clock: parts.clock, doors: doors, callers: all.callers, counts: counts
            ).all,
            SubscriptionHandlers(broker: broker, policy: policy).all,
            KeyHandlers(lock: broker.lock).all,
            PartitionHandlers(
                users: parts.users, broker: broker, audit: parts.audit, policy: policy, watches: watches
            ).all,
        ]
        let providersWord = broker.observeProvidersWord { [audit = parts.audit] in
            AuditEvent(ofProvider: $0).map { [partition = $0.partition] in audit.note($0, ofBrokerIn: partition) }
        }
        requests = RequestService(
            handlers.flatMap(\.self), observing: watchHandlers.observe() + [providersWord], policy: policy,
            vault: parts.vault, log: log)
        connections = ConnectionParts(
            policy: policy, inspector: parts.inspector, clock: parts.clock, consent: parts.consent, payer: parts.payer,
            requestsPerConnection: parts.requestsPerConnection, all: all)
    }

    /// Serves a front on the sockets of the broker, of a door, or of sandboxes (``SandboxFront``).
    package func serving(_ front: any Front) -> FrontService { FrontService(front, connections) }
}
