import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// A request whose params were read and whose caller was not let in yet.
protocol PendingRequest: Sendable {
    var facts: RequestFacts { get }
    func admit(by policy: AccessPolicy, _ asking: AdmissionRequest, in context: ConnectionContext) throws(BrokerError)
        -> any AdmittedRequest
}

/// What the params say to ``RequestService``.
struct RequestFacts: Sendable {
    /// For the log.
    let app: String?
    let correlationID: String
    let reach: AppReach
    let presence: PresenceNeed
    /// Seconds.
    let waitForGrant: Int64?
}

/// A request whose caller was let in.
protocol AdmittedRequest: Sendable {
    func begin() throws(BrokerError) -> Work<CompletedWork>
    /// Whether the caller would still be let in.
    func confirm(by policy: AccessPolicy) throws(BrokerError)
}

/// A request for one method.
struct MethodCall<M: BrokerMethod>: PendingRequest where M.Params.NamedApp: AppNaming {
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
