import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `broker.subscribe`.
struct SubscriptionHandlers: Sendable {
    let broker: TokenBroker
    let policy: AccessPolicy

    var all: [any AnyMethodHandler] {
        [
            .atOnce(
                Subscribe.self,
                outcome: { _, _ in RequestOutcome(words: "\(Subscribe.name)", level: .debug, audited: .nothing) }
            ) {
                request throws(BrokerError) in
                try subscribe(request)
                return Subscribe.Result(subscribed: EventTopic.allCases.filter(request.params.topics.contains))
            }
        ]
    }

    /// Sends events as notifications on the subscriber's connection.
    private func subscribe(_ request: Request<Subscribe>) throws(BrokerError) {
        let (context, topics) = (request.context, Set(request.params.topics))
        // The replaced subscriptions make room for the new ones.
        context.subscribe([])
        guard !topics.isEmpty else { return }
        let (policy, caller) = (policy, context.caller)
        let isPersonal = request.app == nil
        let admitted = Admission(app: request.app?.withoutSecret, grant: request.grant)
        var all = [
            try broker.subscribe(
                to: topics, group: request.app?.effectiveGroup, of: context.caller.claimant, in: request.partition
            ) { event in
                guard policy.mayListen(caller, as: admitted, to: event.app), admitted.covers(event),
                    !context.hasMoved(false), !context.hasEnded()
                else { return }
                context.notify(event, toAll: isPersonal)
            }
        ]
        // Only the person may see other callers' requests.
        if topics.contains(.grant), isPersonal {
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
    /// Whether the grant that admitted a listener covers the event.
    fileprivate func covers(_ event: EngineEvent) -> Bool {
        guard let grant, case .token(_, let accountID, let scopes, _) = event.change else { return true }
        return grant.covers(accountID: accountID, scopes: scopes)
    }
}

extension ConnectionContext {
    /// - Parameter toAll: whether it listens for the person, who may know which other callers ask; an app may not.
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
