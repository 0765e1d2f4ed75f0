import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// Does the work of a method. ``RequestService`` admits the caller, and the app, before.
struct MethodHandler<M: BrokerMethod>: AnyMethodHandler where M.Params.NamedApp: AppNaming {
    let rules = MethodRules(M.self)
    /// Called on the reactor's thread: it must not wait and not touch the disk.
    let work: @Sendable (Request<M>) throws(BrokerError) -> Work<CompletedWork>

    init(_: M.Type, work: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<CompletedWork>) {
        self.work = work
    }

    func read(_ call: Call) throws(RequestRefusal) -> any PendingRequest {
        do throws(RPCError) {
            let read = try M.read(call)
            return MethodCall(read.params, as: read.app, work)
        } catch { throw .malformed(error) }
    }
}

extension AnyMethodHandler {
    typealias Outcome<M: BrokerMethod> = @Sendable (Request<M>, M.Result) -> RequestOutcome
    where M.Params.NamedApp: AppNaming

    /// A method that is answered at once, on the reactor's thread: its body must not wait and not touch the disk.
    static func atOnce<M: BrokerMethod>(
        _ method: M.Type, outcome: @escaping Outcome<M> = { _, _ in .answered(M.self) },
        _ body: @escaping @Sendable (Request<M>) throws(BrokerError) -> M.Result
    ) -> Self where Self == MethodHandler<M> {
        MethodHandler(method) { request throws(BrokerError) in
            let result = try body(request)
            return .done(CompletedWork(answer: .value(result), outcome: outcome(request, result)))
        }
    }

    /// A method whose body waits, or reads more than a few rows.
    static func waiting<M: BrokerMethod>(
        _ method: M.Type, outcome: @escaping Outcome<M> = { _, _ in .answered(M.self) },
        _ body: @escaping @Sendable (Request<M>) async throws(BrokerError) -> M.Result
    ) -> Self where Self == MethodHandler<M> {
        MethodHandler(method) { request in
            .waits { () throws(BrokerError) in
                let result = try await body(request)
                return CompletedWork(answer: .value(result), outcome: outcome(request, result))
            }
        }
    }
}

/// A request for one method.
private struct MethodCall<M: BrokerMethod>: PendingRequest where M.Params.NamedApp: AppNaming {
    private let params: M.Params
    private let app: M.Params.NamedApp
    private let work: @Sendable (Request<M>) throws(BrokerError) -> Work<CompletedWork>
    let facts: RequestFacts

    init(
        _ params: M.Params, as app: M.Params.NamedApp,
        _ work: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<CompletedWork>
    ) {
        (self.params, self.app, self.work) = (params, app, work)
        facts = RequestFacts(
            app: app.name, correlationID: params.correlationId ?? CorrelationID.make(), reach: params.reach,
            presence: M.presence(for: params), waitForGrant: params.waitForGrant)
    }

    func admit(
        by policy: AccessPolicy, _ asking: AdmissionRequest, in context: ConnectionContext
    ) throws(BrokerError) -> any AdmittedRequest {
        AdmittedCall(
            request: Request(
                params: params, try policy.admit(app, asking), correlationID: facts.correlationID, context), work: work)
    }
}

private struct AdmittedCall<M: BrokerMethod>: AdmittedRequest where M.Params.NamedApp: AppNaming {
    let request: Request<M>
    let work: @Sendable (Request<M>) throws(BrokerError) -> Work<CompletedWork>

    func begin() throws(BrokerError) -> Work<CompletedWork> { try work(request) }

    func confirm(by policy: AccessPolicy) throws(BrokerError) {
        try M.Params.NamedApp.confirm(
            Admission(app: request.app, grant: request.grant), of: request.context.caller, by: policy)
    }
}
