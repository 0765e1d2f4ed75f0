import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// A request as its handler gets it: the caller may use the method, and act as the app. A class, so that handing it on costs one
/// reference and not dozens.
final class Request<M: BrokerMethod>: Sendable where M.Params.NamedApp: AppNaming {
    let params: M.Params
    /// An `AppRegistration`, an optional one, or ``NoApp``: as the method's params have it.
    let app: M.Params.NamedApp.App
    /// What the caller was let in by, if a person had to agree: nothing that goes beyond it may be answered.
    let grant: GrantInUse?
    let correlationID: String
    let context: ConnectionContext

    init(
        params: M.Params, _ admitted: Admitted<M.Params.NamedApp.App>, correlationID: String,
        _ context: ConnectionContext
    ) {
        self.params = params
        (app, grant) = (admitted.app, admitted.grant)
        self.correlationID = correlationID
        self.context = context
    }

    var partition: Partition { context.caller.partition }

    /// Tells the client something before its answer.
    func notify<N: BrokerNotification>(_ notification: N.Type, _ params: N.Params) {
        context.notify(notification, params)
    }
}

/// What is left to do of a request.
enum Work<Output: Sendable>: Sendable {
    case done(Output)
    case waits(@Sendable () async throws(BrokerError) -> Output)
}

/// Who answers a method. The rights are behind it: ``RequestPipeline`` lets in the caller, and the app.
struct Handler<M: BrokerMethod, Output: Sendable>: Sendable where M.Params.NamedApp: AppNaming {
    /// Called on the reactor's thread: it must not wait and not touch the disk.
    let work: @Sendable (Request<M>) throws(BrokerError) -> Work<Output>
    /// For the log, of a success.
    let outcome: @Sendable (Request<M>, Output) -> RequestOutcome
    /// Writes the result. When it throws, what it wrote is taken back.
    let write: @Sendable (Output, Request<M>, inout JSONWriter) throws(BrokerError) -> Void
    /// What the same request may be answered with again; nil where it has to be decided anew.
    var again: (@Sendable (Request<M>, Output) -> RepeatableAnswer?)?
    /// Gives what begins when an answer is on its way; for work that waits.
    var after: (@Sendable (Output) -> @Sendable () -> Void)?
}

/// A ``Handler`` of whichever method.
struct AnyHandler: Sendable {
    let method: String
    let begin: @Sendable (Call, ConnectionContext, RequestPipeline, inout JSONWriter) -> Handling

    init<M: BrokerMethod, Output: Sendable>(
        _: M.Type, work: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<Output>,
        outcome: @escaping Outcome<M, Output> = { _, _ in .answered(M.self) },
        write: @escaping @Sendable (Output, Request<M>, inout JSONWriter) throws(BrokerError) -> Void,
        again: (@Sendable (Request<M>, Output) -> RepeatableAnswer?)? = nil,
        after: (@Sendable (Output) -> @Sendable () -> Void)? = nil
    ) where M.Params.NamedApp: AppNaming {
        let handler = Handler(work: work, outcome: outcome, write: write, again: again, after: after)
        method = M.name
        begin = { $2.begin($0, with: handler, in: $1, &$3) }
    }

    typealias Outcome<M: BrokerMethod, Output> = @Sendable (Request<M>, Output) -> RequestOutcome
    where M.Params.NamedApp: AppNaming

    /// A method that is answered at once, on the reactor's thread: its body must not wait and not touch the disk.
    static func atOnce<M: BrokerMethod>(
        _ method: M.Type, outcome: @escaping Outcome<M, M.Result> = { _, _ in .answered(M.self) },
        _ body: @escaping @Sendable (Request<M>) throws(BrokerError) -> M.Result
    ) -> AnyHandler where M.Params.NamedApp: AppNaming {
        AnyHandler(
            method, work: { request throws(BrokerError) in .done(try body(request)) }, outcome: outcome
        ) { $0.write(to: &$2) }
    }

    /// A method whose body waits, or reads more than a few rows.
    static func waiting<M: BrokerMethod>(
        _ method: M.Type, outcome: @escaping Outcome<M, M.Result> = { _, _ in .answered(M.self) },
        _ body: @escaping @Sendable (Request<M>) async throws(BrokerError) -> M.Result
    ) -> AnyHandler where M.Params.NamedApp: AppNaming {
        AnyHandler(
            method, work: { request in .waits { () throws(BrokerError) in try await body(request) } }, outcome: outcome
        ) { $0.write(to: &$2) }
    }
}
