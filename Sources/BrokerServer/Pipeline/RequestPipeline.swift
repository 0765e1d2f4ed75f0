import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// The way of one request, from its message to its answer. Before it, `BrokerSocket` cut the line, ``BrokerService`` said
/// who is calling, and `RequestLine` read the envelope.
struct RequestPipeline: Sendable {
    private let entrance: Entrance
    private let log: RequestLog
    private let handlers: [String: AnyHandler]

    init(_ services: ServerServices) {
        let all: [[AnyHandler]] = [
            TokenHandlers(services: services).all,
            InteractionHandlers(services: services).all,
            AccountHandlers(services: services).all,
            AppHandlers(services: services).all,
            CacheHandlers(services: services).all,
            BrokerHandlers(services: services).all,
            KeyHandlers(services: services).all,
        ]
        entrance = Entrance(policy: services.policy, lock: services.broker.lock)
        log = RequestLog(services.log, clock: services.clock)
        handlers = Dictionary(uniqueKeysWithValues: all.joined().map { ($0.method, $0) })
    }

    /// Begins a request on the event loop. The answer is in the writer when this returns, unless the request waits.
    func begin(_ call: Call, in context: ConnectionContext, _ writer: inout JSONWriter) -> Handling {
        // Method
        guard let handler = handlers[call.method] else {
            let error = RPCError.methodNotFound(call.method)
            log.refused(error, RequestEntry.Subject(method: "a request", caller: context.caller), since: log.start())
            writer.fail(error, call.id)
            return .answered
        }
        return handler.begin(call, context, self, &writer)
    }

    func begin<M, Output>(
        _ call: Call, with handler: Handler<M, Output>, in context: ConnectionContext, _ writer: inout JSONWriter
    ) -> Handling {
        let start = log.start()
        var subject = RequestEntry.Subject(method: M.name, caller: context.caller)
        do throws(BrokerError) {
            // Right
            switch M.permission {
            case .administration: try entrance.policy.requireAdministrator(context.callerNow())
            case .person: break
            // The params have to be read before.
            case .app, .appOrPersonal: break
            }
            // Params
            let read: (params: M.Params, app: M.Params.NamedApp)
            do throws(RPCError) { read = try M.read(call) } catch {
                log.refused(error, subject, since: start)
                writer.fail(error, call.id)
                return .answered
            }
            let name = read.params.correlationId ?? CorrelationID.make()
            subject.correlationID = name
            subject.app = read.app.name
            // Keys
            try entrance.enter(M.self)
            var isUnderWay = false
            defer { if !isUnderWay { entrance.leave(M.self) } }
            // App
            let app = try read.app.admitted(context, by: entrance.policy)
            // Work
            let request = Request<M>(params: read.params, app: app, correlationID: name, context: context)
            switch try handler.work(request) {
            // Answer
            case .done(let output):
                try handler.answer(output, to: call.id, name, &writer)
                log.done(handler.outcome(request, output), subject, since: start)
            case .waits(let output):
                isUnderWay = true
                return .waits { [entrance, log, subject] writer in
                    do throws(BrokerError) {
                        let output = try await output()
                        try handler.answer(output, to: call.id, name, &writer)
                        log.done(handler.outcome(request, output), subject, since: start)
                    } catch {
                        writer.fail(log.failed(error, subject, since: start), call.id)
                    }
                    entrance.leave(M.self)
                }
            }
        } catch {
            writer.fail(log.failed(error, subject, since: start), call.id)
        }
        return .answered
    }
}

/// How far a request came on the event loop.
enum Handling: Sendable {
    /// The answer is written; nothing for a notification.
    case answered
    /// The rest must wait for something: to be run in a task of its own.
    case waits(@Sendable (inout JSONWriter) async -> Void)
}

extension JSONWriter {
    /// Answers with an error; a notification (no id) gets none (JSON-RPC 2.0, section 4.1).
    mutating func fail(_ error: RPCError, _ id: RequestID?) {
        if let id { refuse(with: error, to: id) }
    }
}
