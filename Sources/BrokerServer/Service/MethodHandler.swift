import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

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

/// The handler of a method.
protocol AnyMethodHandler: Sendable {
    var rules: MethodRules { get }
    /// - Throws: -32602, naming the field.
    func read(_ call: Call) throws(RequestRefusal) -> any PendingRequest
}

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
