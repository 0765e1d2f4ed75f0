import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `token.watch` and `token.unwatch`.
struct WatchHandlers: Sendable {
    let tokens: TokenHandlers
    let broker: TokenBroker
    let policy: AccessPolicy
    let checks: WatchChecks
    let watches: Watches
    let clock: any BrokerClock

    var all: [any AnyMethodHandler] { [watch, unwatch] }

    private var watch: MethodHandler<WatchToken> {
        MethodHandler(WatchToken.self) { request throws(BrokerError) in
            try request.params.checkSize()
            let (name, place) = try request.context.watches.reserve()
            let asked = try tokens.silent(request)
            return .waits { () throws(BrokerError) in
                let token = try await broker.acquireSilent(asked)
                try request.permits(token, by: policy)
                let held = try checks.held(token, request.params)
                let watch = TokenWatch(
                    name, of: request, token, held,
                    broker.watched.times(of: token, minimumLifetime: held.minimumLifetime), at: place, clock: clock)
                let start = WatchStart(name: name, token: token) { [watches] in watches.begin(watch) }
                return CompletedWork(answer: .watch(start), outcome: .refreshed(token))
            }
        }
    }

    private var unwatch: MethodHandler<UnwatchToken> {
        .atOnce(UnwatchToken.self) { request in
            UnwatchToken.Result(unwatched: request.context.watches.end(request.params.watch))
        }
    }

    /// Observes events elsewhere that concern watches.
    func observe() -> [Subscription] {
        let engine = broker.observe { [watches] event in
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
        let rights = policy.observe { [watches] partition in
            watches.glance(soon: true) { partition == nil || $0.partition == partition }
        }
        return [engine, broker.lock.whenLocking { [watches] in watches.endAll(telling: .locked) }] + rights
    }
}

extension WatchToken.Params {
    /// The most that is stored for as long as the watch lasts.
    private static var maximumBytes: Int { 8_192 }

    /// - Throws: `invalidParameter`.
    fileprivate func checkSize() throws(BrokerError) {
        let lists = query.scopes + query.resources + query.clientCapabilities
        let texts =
            lists + query.extraParameters.flatMap { [$0.key, $0.value] }
            + [query.claims, query.challenge?.text].compactMap(\.self)
        let bytes = texts.reduce(0) { $0 + $1.utf8.count + 32 }
        guard bytes <= Self.maximumBytes else {
            throw BrokerError(
                .invalidParameter,
                "The scopes, claims and parameters of a watch come to more than \(Self.maximumBytes) bytes; watch for less, or ask token.acquireSilent."
            )
        }
    }
}
