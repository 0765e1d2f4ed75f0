import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Logging

/// One row of the method table: a method, and who answers it.
struct Route: Sendable {
    let method: any BrokerMethod.Type
    let begin: @Sendable (Call, ConnectionContext, inout JSONWriter) -> Handling
}

extension Route {
    /// A method that is answered at once, on the event loop: its body must not wait and not touch the disk.
    static func atOnce<M: BrokerMethod>(
        _: M.Type, _ body: @escaping @Sendable (M.Params, Caller) throws(BrokerError) -> M.Result
    ) -> Route {
        Route(method: M.self) { call, context, writer in
            let request: AdmittedRequest<M>
            do throws(RPCError) { request = try AdmittedRequest(call, context) } catch {
                writer.fail(error, call.id)
                return .answered
            }
            do throws(BrokerError) {
                let result = try body(request.params, context.caller)
                if let id = call.id { writer.answer(result, to: id) }
            } catch {
                request.fail(error, &writer)
            }
            return .answered
        }
    }

    /// A method whose body waits, or reads more than a few rows.
    static func waiting<M: BrokerMethod>(
        _: M.Type, _ body: @escaping @Sendable (M.Params, Caller) async throws(BrokerError) -> M.Result
    ) -> Route {
        Route(method: M.self) { call, context, writer in
            let request: AdmittedRequest<M>
            do throws(RPCError) { request = try AdmittedRequest(call, context) } catch {
                writer.fail(error, call.id)
                return .answered
            }
            return .waits { writer in
                do throws(BrokerError) {
                    let result = try await body(request.params, context.caller)
                    if let id = call.id { writer.answer(result, to: id) }
                } catch {
                    request.fail(error, &writer)
                }
            }
        }
    }
}

/// A request whose caller may use the method and whose params are in order.
struct AdmittedRequest<M: BrokerMethod>: Sendable {
    let id: RequestID?
    let params: M.Params
    let context: ConnectionContext

    init(_ call: Call, _ context: ConnectionContext) throws(RPCError) {
        do throws(BrokerError) {
            try PermissionGate.pass(M.permission, context.caller)
        } catch {
            throw RPCError(error.correlated(CorrelationID.make()))
        }
        id = call.id
        params = try M.params(of: call)
        self.context = context
    }

    /// Answers with the error, and says in the log what the caller is not told.
    func fail(_ error: BrokerError, correlationID: String? = nil, _ writer: inout JSONWriter) {
        let error = error.correlated(correlationID ?? CorrelationID.make())
        var metadata: Logger.Metadata = [
            "method": "\(M.name)", "kind": "\(error.kind.rawValue)",
            "correlation_id": "\(error.details.correlationID ?? "")", "caller": "\(context.caller.id)",
        ]
        if let reason = error.reason { metadata["reason"] = "\(reason.rawValue)" }
        if let cause = error.cause { metadata["cause"] = "\(cause)" }
        context.log.log(
            level: error.kind == .internal ? .error : .info, "request answered with an error", metadata: metadata)
        writer.fail(RPCError(error), id)
    }
}
