import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Logging
import Synchronization

/// The way of one request, stage by stage:
///
/// 1. bytes: `BrokerSocket` cuts the line and knows the peer's uid;
/// 2. message: ``RequestLine`` reads the envelope (-32700, -32600);
/// 3. caller: known since the connection was accepted (``ConnectionContext/caller``);
/// 4. route: the method's name is looked up here (-32601);
/// 5. permission: ``PermissionGate`` holds the method's permission against the caller;
/// 6. params: the method's definition decodes them (-32602);
/// 7. app: policy says whether the caller may act as the app that the params name;
/// 8. work: the handler calls the engine or the directory, at once or waiting;
/// 9. answer: written as JSON, the token's secret straight from the vault.
struct RequestPipeline: Sendable {
    private let routes: [String: Route]

    init(_ services: ServerServices, connections: ConnectionCount) {
        let handlers: [[Route]] = [
            TokenHandlers(services).routes,
            ProofHandlers(services).routes,
            InteractionHandlers(services).routes,
            AccountHandlers(services).routes,
            AppHandlers(services).routes,
            CacheHandlers(services).routes,
            BrokerHandlers(services, connections: connections).routes,
            EventHandlers(services).routes,
        ]
        routes = Dictionary(uniqueKeysWithValues: handlers.joined().map { ($0.method.name, $0) })
    }

    /// Names of the methods that are answered; a test holds them against ``MethodRegistry``.
    var methodNames: Set<String> { Set(routes.keys) }

    /// Begins a request on the event loop. The answer is in the writer when this returns, unless the request waits.
    func begin(_ call: Call, in context: ConnectionContext, _ writer: inout JSONWriter) -> Handling {
        guard let route = routes[call.method] else {
            writer.fail(.methodNotFound(call.method), call.id)
            return .answered
        }
        return route.begin(call, context, &writer)
    }
}

/// How far a request came on the event loop.
enum Handling: Sendable {
    /// The answer is written; nothing for a notification.
    case answered
    /// The rest must wait for something: to be run in a task of its own.
    case waits(@Sendable (inout JSONWriter) async -> Void)
}

/// What all requests of one connection share. A class, so that handing it on costs one reference and not dozens.
final class ConnectionContext: Sendable {
    let caller: Caller
    /// Sends a line to the client outside any answer.
    let notify: @Sendable (_ line: JSONWriter) -> Void
    let log: Logger
    /// What the client wants to be told about; it ends with the connection.
    private let subscription = Mutex<EventHub.Subscription?>(nil)

    init(caller: Caller, notify: @escaping @Sendable (_ line: JSONWriter) -> Void, log: Logger) {
        self.caller = caller
        self.notify = notify
        self.log = log
    }

    var isSubscribed: Bool { subscription.withLock { $0 != nil } }

    /// Replaces what there was.
    func subscribe(_ subscription: EventHub.Subscription?) { self.subscription.withLock { $0 = subscription } }
}

extension JSONWriter {
    /// Answers with an error; a notification (no id) gets none (JSON-RPC 2.0, section 4.1).
    mutating func fail(_ error: RPCError, _ id: RequestID?) {
        if let id { refuse(with: error, to: id) }
    }
}
