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
            GrantHandlers(services: services).all,
            SandboxHandlers(services: services).all,
            AuditHandlers(services: services).all,
            BrokerHandlers(services: services).all,
            KeyHandlers(services: services).all,
            PartitionHandlers(services: services).all,
        ]
        entrance = Entrance(policy: services.policy, lock: services.broker.lock, owners: services.users?.owners)
        log = RequestLog(services.log, services.audit, services.counts, clock: services.clock)
        handlers = Dictionary(uniqueKeysWithValues: all.joined().map { ($0.method, $0) })
    }

    /// Begins a request on the event loop. The answer is in the writer when this returns, unless the request waits.
    func begin(_ call: Call, in context: ConnectionContext, _ writer: inout JSONWriter) -> Handling {
        // Method
        guard let handler = handlers[call.method] else {
            let error = RPCError.methodNotFound(call.method)
            log.refused(error, RequestEntry.Subject(method: "a request", caller: context.audited), since: log.start())
            writer.fail(error, call.id)
            return .answered
        }
        return handler.begin(call, context, self, &writer)
    }

    func begin<M, Output>(
        _ call: Call, with handler: Handler<M, Output>, in context: ConnectionContext, _ writer: inout JSONWriter
    ) -> Handling {
        let start = log.start()
        var subject = RequestEntry.Subject(method: M.name, caller: context.audited)
        do throws(BrokerError) {
            // Right
            switch M.permission {
            case .administration: try entrance.policy.requireAdministrator(context.callerNow())
            case .ownership: try entrance.policy.requireOwnerOfBroker(context.callerNow())
            case .person: break
            // The params have to be read before.
            case .app, .appOrPersonal: break
            }
            if let right = M.right { try entrance.policy.require(right, of: context.caller) }
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
            // Keys, app
            guard !entrance.mustLookUp(M.self, context) else {
                let admitted = { @Sendable [entrance] () async throws(BrokerError) -> Request<M> in
                    try await entrance.admitLater(read.params, read.app, name, context)
                }
                return later(call, handler, subject, since: start, admitted, handler.work)
            }
            let request: Request<M>
            do throws(BrokerError) { request = try entrance.admit(read.params, read.app, name, context) } catch {
                guard let wait = GrantWait(error, read.params, name, context, entrance.policy) else { throw error }
                let admitted = { @Sendable [entrance] () async throws(BrokerError) -> Request<M> in
                    try await wait.untilAdmitted { () throws(BrokerError) in
                        try entrance.admit(read.params, read.app, name, context)
                    }
                }
                return later(call, handler, subject, since: start, admitted, handler.work)
            }
            var isUnderWay = false
            defer { if !isUnderWay { entrance.leave(M.self) } }
            // Work
            switch try handler.work(request) {
            // Answer
            case .done(let output):
                try handler.answer(output, to: call.id, name, &writer)
                log.done(handler.outcome(request, output), subject, since: start)
            case .waits(let output):
                isUnderWay = true
                return later(call, handler, subject, since: start, { request }, { _ in .waits(output) })
            }
        } catch {
            writer.fail(log.failed(error, subject, since: start), call.id)
        }
        return .answered
    }
}

extension RequestPipeline {
    /// The rest of a request, in a task of its own. Who was admitted leaves at its end.
    private func later<M, Output>(
        _ call: Call, _ handler: Handler<M, Output>, _ subject: RequestEntry.Subject, since start: Duration,
        _ admitted: @escaping @Sendable () async throws(BrokerError) -> Request<M>,
        _ begin: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<Output>
    ) -> Handling {
        .waits { [entrance, log] writer in
            do throws(BrokerError) {
                let request = try await admitted()
                defer { entrance.leave(M.self) }
                let output: Output
                switch try begin(request) {
                case .done(let value): output = value
                case .waits(let value):
                    // What root asks about others puts nothing into a partition.
                    if !M.worksLocked, M.permission != .ownership {
                        try await entrance.owners?.bind(request.partition)
                    }
                    output = try await value()
                }
                // What waited may have outlived its grant.
                if let grant = request.grant { try entrance.policy.confirm(grant, of: request.context.caller) }
                try handler.answer(output, to: call.id, request.correlationID, &writer)
                log.done(handler.outcome(request, output), subject, since: start)
            } catch {
                writer.fail(log.failed(error, subject, since: start), call.id)
            }
        }
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
