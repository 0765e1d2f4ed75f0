import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// The way of one request, from its line to its answer. Before it, `BrokerSocket` cut the line, and ``BrokerService`` said
/// who is calling.
final class RequestPipeline: Sendable {
    let policy: AccessPolicy
    let log: RequestLog
    let broker: TokenBroker
    let clock: any BrokerClock
    let answeredAgain: (@Sendable () -> Void)?
    private let handlers: [String: AnyHandler]
    /// Audits what the provider decided.
    private let providersWord: Subscription
    /// Of watches.
    private let observations: [Subscription]

    init(_ services: ServerServices) {
        log = RequestLog(services.log, services.audit, services.counts, services.names, clock: services.clock)
        let tokens = TokenHandlers(services: services)
        let watches = WatchHandlers(looks: WatchLooks(tokens: tokens, log: log))
        observations = watches.observe()
        let all: [[AnyHandler]] = [
            tokens.all,
            watches.all,
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
        policy = services.policy
        broker = services.broker
        clock = services.clock
        answeredAgain = services.answeredAgain
        providersWord = services.broker.observeProvidersWord { [audit = services.audit] in
            AuditEvent(ofProvider: $0).map { [partition = $0.partition] in audit.note($0, ofBrokerIn: partition) }
        }
        handlers = Dictionary(uniqueKeysWithValues: all.joined().map { ($0.method, $0) })
    }

    /// Begins what a line asks for, on the reactor's thread. The answer is in the writer when this returns, unless a request waits.
    ///
    /// - Parameter refusal: what every request of it is answered with, if there is such.
    func begin(
        _ line: UnsafeRawBufferPointer, in context: ConnectionContext, refusing refusal: BrokerError? = nil,
        _ writer: inout JSONWriter
    ) -> Handling {
        switch RequestLine(line) {
        case .single(let item): return begin(item, in: context, refusal, &writer)
        case .batch(let items): return begin(items, in: context, refusal, &writer)
        case .refused(let error):
            writer.refuse(with: error, to: nil)
            return .answered()
        }
    }

    private func begin(
        _ item: RequestLine.Item, in context: ConnectionContext, _ refusal: BrokerError?, _ writer: inout JSONWriter
    ) -> Handling {
        let call: Call
        switch item {
        case .invalid(let id, let error):
            writer.refuse(with: error, to: id)
            return .answered()
        case .call(let read): call = read
        }
        if let refusal {
            writer.fail(RPCError(refusal.correlated(CorrelationID.make())), call.id)
            return .answered()
        }
        // Method
        guard let handler = handlers[call.method] else {
            let error = RPCError.methodNotFound(call.method)
            log.refused(error, RequestEntry.Subject(method: "a request", caller: context.audited), since: log.start())
            writer.fail(error, call.id)
            return .answered()
        }
        return handler.begin(call, context, self, &writer)
    }

    func begin<M, Output>(
        _ call: Call, with handler: Handler<M, Output>, in context: ConnectionContext, _ writer: inout JSONWriter
    ) -> Handling {
        let start = log.start()
        // Before anything is decided by what they count.
        let changes = handler.again == nil ? 0 : changes
        var subject = RequestEntry.Subject(method: M.name, caller: context.audited)
        do throws(BrokerError) {
            // Right of the person's own tools, whatever the params are
            switch M.permission {
            case .administration: try policy.requireAdministrator(context.callerNow())
            case .ownership: try policy.requireOwnerOfBroker(context.callerNow())
            case .person, .app, .appOrPersonal: break
            }
            // Params
            let read: (params: M.Params, app: M.Params.NamedApp)
            do throws(RPCError) { read = try M.read(call) } catch {
                log.refused(error, subject, since: start)
                writer.fail(error, call.id)
                return .answered()
            }
            let name = read.params.correlationId ?? CorrelationID.make()
            subject.correlationID = name
            subject.app = read.app.name
            // Right, keys, app
            let asking = Asking(
                context.caller, now: context.callerNow, connectedAt: context.connectedAt, right: M.right,
                needsKeys: !M.worksLocked, reaching: read.params.reach)
            let question = policy.question(for: M.name, M.presence(for: read.params), of: context.caller)
            let admitted: Request<M>?
            do throws(BrokerError) {
                let waits = question != nil || policy.mustLookUp(asking)
                admitted = waits ? nil : try admit(read.params, read.app, asking, name, context)
            } catch {
                guard error.kind == .grantRequired, read.params.waitForGrant != nil else { throw error }
                admitted = nil
            }
            guard let request = admitted else {
                let admitted = { @Sendable [self] () async throws(BrokerError) in
                    if let question { try await requirePresence(question, in: context) }
                    return try await admitLater(read.params, read.app, asking, name, context) as Request<M>
                }
                return later(call, handler, subject, in: context, since: start, admitted, handler.work)
            }
            var isUnderWay = false
            defer { if !isUnderWay { policy.leave(neededKeys: !M.worksLocked) } }
            // Work
            switch try handler.work(request) {
            // Answer
            case .done(let output):
                try answer(call.id, handler, request, output, &writer)
                let outcome = handler.outcome(request, output)
                log.done(outcome, subject, since: start)
                guard let range = call.idRange, let again = handler.again?(request, output),
                    let tally = log.tally(of: outcome, subject)
                else { break }
                return .answered(
                    RememberedAnswer(again, idRange: range, countedBy: tally, changes: changes, since: start))
            case .waits(let output):
                isUnderWay = true
                return later(call, handler, subject, in: context, since: start, { request }, { _ in .waits(output) })
            }
        } catch {
            writer.fail(log.failed(policy.fitting(error, context.caller), subject, since: start), call.id)
        }
        return .answered()
    }

    private func admit<M: BrokerMethod>(
        _ params: M.Params, _ app: M.Params.NamedApp, _ asking: Asking, _ correlationID: String,
        _ context: ConnectionContext
    ) throws(BrokerError) -> Request<M> {
        Request(params: params, try policy.admit(app, asking), correlationID: correlationID, context)
    }

    private func answer<M, Output>(
        _ id: RequestID?, _ handler: Handler<M, Output>, _ request: Request<M>, _ output: Output,
        _ writer: inout JSONWriter
    ) throws(BrokerError) {
        guard let id else { return }
        let start = writer.bytes.count
        writer.beginResult(id: id)
        do throws(BrokerError) { try handler.write(output, request, &writer) } catch {
            writer.truncate(to: start)
            throw error
        }
        writer.endAnswer()
    }

    static func movedMeanwhile(_ caller: Caller) -> BrokerError {
        BrokerError(
            .accessDenied, "\(caller.id) entered a sandbox while it waited; connect again there.",
            reason: .callerNotListed
        ) { $0.caller = caller.id }
    }

    static let stopping = BrokerError(
        .serverUnavailable, "The broker is stopping; connect again in a moment.", reason: .shuttingDown)
}

// MARK: - What waits

/// How far a line came on the reactor's thread.
enum Handling: Sendable {
    /// The answer is written; nothing for notifications. Where the same line may get it again, it is to be kept in mind.
    case answered(RememberedAnswer? = nil)
    /// So many requests wait for something: the rest is to be run in a task of its own.
    case waits(requests: Int, Rest)

    /// - Returns: what begins when the answer is on its way.
    typealias Rest = @Sendable (inout JSONWriter) async -> (@Sendable () -> Void)?
}

extension RequestPipeline {
    /// Lets a request in when its time has come: it was looked up whose the records are, and the person allows the caller.
    private func admitLater<M: BrokerMethod>(
        _ params: M.Params, _ app: M.Params.NamedApp, _ asking: Asking, _ correlationID: String,
        _ context: ConnectionContext
    ) async throws(BrokerError) -> Request<M> {
        try await policy.lookUp(asking)
        do throws(BrokerError) { return try admit(params, app, asking, correlationID, context) } catch {
            guard let wait = GrantWait(error, params, correlationID, context, policy) else { throw error }
            return try await wait.untilAdmitted { () throws(BrokerError) in
                try admit(params, app, asking, correlationID, context)
            }
        }
    }

    /// Asks the person, and then again whether the caller is who it was.
    private func requirePresence(
        _ question: PresenceQuestion, in context: ConnectionContext
    ) async throws(BrokerError) {
        try await policy.requirePresence(question, of: context.caller)
        try policy.requireAdministrator(context.callerNow())
    }

    /// The rest of a request, in a task of its own. Who was admitted leaves at its end.
    private func later<M, Output>(
        _ call: Call, _ handler: Handler<M, Output>, _ subject: RequestEntry.Subject,
        in context: ConnectionContext, since start: Duration,
        _ admitted: @escaping @Sendable () async throws(BrokerError) -> Request<M>,
        _ begin: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<Output>
    ) -> Handling {
        .waits(requests: 1) { [self] writer in
            do throws(BrokerError) {
                let request = try await admitted()
                defer { policy.leave(neededKeys: !M.worksLocked) }
                let output: Output
                switch try begin(request) {
                case .done(let value): output = value
                case .waits(let value):
                    // What root asks about others puts nothing into a partition.
                    if !M.worksLocked, M.permission != .ownership {
                        try await policy.prepare(request.partition, adds: M.addsRecords)
                    }
                    output = try await value()
                }
                // What waited may have outlived its right, and its caller may be inside of a sandbox by now.
                if context.hasMoved(false) { throw Self.movedMeanwhile(context.caller) }
                try M.Params.NamedApp.confirm(
                    Admitted(app: request.app, grant: request.grant), of: request.context.caller, by: policy)
                try answer(call.id, handler, request, output, &writer)
                log.done(handler.outcome(request, output), subject, since: start)
                return call.id == nil ? nil : handler.after?(output)
            } catch {
                writer.fail(log.failed(policy.fitting(error, context.caller), subject, since: start), call.id)
                return nil
            }
        }
    }

    /// One array answers a batch, when the last answer is there (JSON-RPC 2.0, section 6).
    private func begin(
        _ items: [RequestLine.Item], in context: ConnectionContext, _ refusal: BrokerError?, _ writer: inout JSONWriter
    ) -> Handling {
        var answers = JSONWriter()
        var waiting: [Handling.Rest] = []
        for item in items {
            if case .waits(_, let rest) = begin(item, in: context, refusal, &answers) { waiting.append(rest) }
        }
        guard !waiting.isEmpty else {
            writer.batch(answers)
            return .answered()
        }
        return .waits(requests: waiting.count) { [answers, waiting] writer in
            var answers = answers
            var following: [@Sendable () -> Void] = []
            await withTaskGroup(of: (JSONWriter, (@Sendable () -> Void)?).self) { group in
                for rest in waiting {
                    group.addTask {
                        var answer = JSONWriter()
                        let after = await rest(&answer)
                        return (answer, after)
                    }
                }
                for await (answer, after) in group {
                    if !answer.bytes.isEmpty { answers.json(answer.bytes) }
                    if let after { following.append(after) }
                }
            }
            writer.batch(answers)
            return { [following] in for begin in following { begin() } }
        }
    }
}

extension JSONWriter {
    /// Answers with an error; a notification (no id) gets none (JSON-RPC 2.0, section 4.1).
    mutating func fail(_ error: RPCError, _ id: RequestID?) {
        if let id { refuse(with: error, to: id) }
    }

    /// Notifications have no place in the array.
    fileprivate mutating func batch(_ answers: JSONWriter) {
        if !answers.bytes.isEmpty { array { writer in writer.json(answers.bytes) } }
    }
}
