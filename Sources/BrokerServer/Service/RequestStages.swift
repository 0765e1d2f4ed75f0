import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// A method as ``RequestService`` knows it, whatever its params are.
protocol AnyMethodHandler: Sendable {
    var rules: MethodRules { get }
    /// - Throws: -32602, naming the field.
    func read(_ call: Call) throws(RequestRefusal) -> any PendingRequest
}

/// The requirements of a method, whatever its params are.
struct MethodRules: Sendable {
    let name: String
    let permission: Permission
    let right: SandboxRight?
    let needsKeys: Bool
    let addsRecords: Bool

    init<M: BrokerMethod>(_: M.Type) {
        name = M.name
        permission = M.permission
        right = M.right
        needsKeys = !M.worksLocked
        addsRecords = M.addsRecords
    }
}

/// A request with parsed params whose caller is not admitted yet.
protocol PendingRequest: Sendable {
    var facts: RequestFacts { get }
    func admit(by policy: AccessPolicy, _ asking: AdmissionRequest, in context: ConnectionContext) throws(BrokerError)
        -> any AdmittedRequest
}

/// The facts from the params for ``RequestService``.
struct RequestFacts: Sendable {
    /// For the log.
    let app: String?
    let correlationID: String
    let reach: AppReach
    let presence: PresenceNeed
    /// Seconds.
    let waitForGrant: Int64?
}

/// A request whose caller was admitted.
protocol AdmittedRequest: Sendable {
    func begin() throws(BrokerError) -> Work<CompletedWork>
    /// Whether the caller would still be admitted.
    func confirm(by policy: AccessPolicy) throws(BrokerError)
}
