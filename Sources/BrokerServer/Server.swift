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
        let log = RequestLog(parts.log, parts.audit, counts, parts.names, clock: parts.clock, payer: parts.payer)
        let (broker, policy, clock) = (parts.broker, parts.policy, parts.clock)
        let interactions = InteractionStart(
            mode: parts.process.mode, interactions: CallerAllowance(.interactions, clock: clock),
            browsers: parts.browsers)
        let tokens = TokenHandlers(broker: broker, policy: policy, interactions: interactions)
        let checks = WatchChecks(tokens: tokens, broker: broker, policy: policy, vault: parts.vault, log: log)
        let watches = Watches(checks: checks, policy: policy, clock: clock)
        let watchHandlers = WatchHandlers(
            tokens: tokens, broker: broker, policy: policy, checks: checks, watches: watches, clock: clock)
        let status = BrokerHandlers(
            broker: broker, policy: policy, vault: parts.vault, users: parts.users, process: parts.process,
            clock: clock, doors: doors, callers: all.callers, counts: counts)
        let providersWord = broker.observeProvidersWord { [audit = parts.audit] in
            AuditEvent(ofProvider: $0).map { [partition = $0.partition] in audit.note($0, ofBrokerIn: partition) }
        }
        requests = RequestService(
            tokens.all + watchHandlers.all + status.all + Self.handlers(parts, interactions, watches),
            observing: watchHandlers.observe() + [providersWord], policy: policy, vault: parts.vault, log: log)
        connections = ConnectionParts(
            policy: policy, inspector: parts.inspector, clock: clock, consent: parts.consent, payer: parts.payer,
            requestsPerConnection: parts.requestsPerConnection, all: all)
    }

    /// The methods that share nothing with connections and the log.
    private static func handlers(
        _ parts: ServerParts, _ interactions: InteractionStart, _ watches: Watches
    ) -> [any AnyMethodHandler] {
        let (broker, policy, apps, users) = (parts.broker, parts.policy, parts.apps, parts.users)
        let families: [[any AnyMethodHandler]] = [
            InteractionHandlers(broker: broker).all,
            AccountHandlers(broker: broker, apps: apps, policy: policy, interactions: interactions).all,
            AppHandlers(apps: apps, broker: broker, policy: policy).all,
            CacheHandlers(broker: broker, policy: policy, vault: parts.vault, users: users, process: parts.process).all,
            GrantHandlers(broker: broker, apps: apps, policy: policy).all,
            SandboxHandlers(apps: apps, sandboxes: parts.sandboxes).all,
            AuditHandlers(audit: parts.audit).all,
            SubscriptionHandlers(broker: broker, policy: policy).all,
            KeyHandlers(lock: broker.lock).all,
            PartitionHandlers(
                users: users, broker: broker, audit: parts.audit, policy: policy, watches: watches,
                sandboxes: parts.sandboxes
            ).all,
        ]
        return families.flatMap(\.self)
    }

    /// Serves a front on the sockets of the broker, of a door, or of sandboxes (``SandboxFront``).
    package func serving(_ front: any Front) -> FrontService { FrontService(front, connections) }
}
