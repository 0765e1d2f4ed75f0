import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `token.watch` and `token.unwatch`.
struct WatchHandlers: Sendable {
    let looks: WatchChecks

    private var tokens: TokenHandlers { looks.tokens }
    private var services: ServerServices { tokens.services }

    var all: [any AnyMethodHandler] {
        [
            MethodHandler(WatchToken.self) { request throws(BrokerError) in
                let context = request.context
                try request.params.checkSize()
                let place = try services.watches.takePlace(for: context.caller.claimant, of: context.payer)
                let name = try context.nameWatch()
                let asked = try tokens.silent(request)
                return .waits { () throws(BrokerError) in
                    let token = try await services.broker.acquireSilent(asked)
                    try request.permits(token, by: services.policy)
                    let watch = try TokenWatch(name, of: request, token, place, looks)
                    return CompletedWork(answer: .watch(watch, token), outcome: .refreshed(token))
                }
            },
            .atOnce(UnwatchToken.self) { request in
                UnwatchToken.Result(unwatched: request.context.unwatch(request.params.watch))
            },
        ]
    }

    /// What happens elsewhere and concerns watches.
    func observe() -> [Subscription] {
        let watches = services.watches
        let engine = services.broker.observe { event in
            switch event.change {
            case .account(_, let account):
                watches.glance(soon: true) { $0.partition == event.partition && $0.accountID == account.id }
            case .token(let change, let accountID, _, _):
                watches.glance(soon: change == .refreshTokenRejected) {
                    $0.partition == event.partition && $0.accountID == accountID
                        && $0.app.effectiveGroup == event.app.effectiveGroup
                }
            case .interaction: break
            }
        }
        let rights = services.policy.observe { partition in
            watches.glance(soon: true) { partition == nil || $0.partition == partition }
        }
        return [engine, services.broker.lock.whenLocking { watches.end(with: .locked) }] + rights
    }
}

extension WatchToken.Params {
    /// What is kept for as long as the watch is there.
    private static var mostBytes: Int { 8_192 }

    /// - Throws: `invalidParameter`.
    fileprivate func checkSize() throws(BrokerError) {
        let lists = query.scopes + query.resources + query.clientCapabilities
        let texts =
            lists + query.extraParameters.flatMap { [$0.key, $0.value] }
            + [query.claims, query.challenge?.text].compactMap(\.self)
        let bytes = texts.reduce(0) { $0 + $1.utf8.count + 32 }
        guard bytes <= Self.mostBytes else {
            throw BrokerError(
                .invalidParameter,
                "The scopes, claims and parameters of a watch come to more than \(Self.mostBytes) bytes; watch for less, or ask token.acquireSilent."
            )
        }
    }
}
