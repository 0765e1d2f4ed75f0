import BrokerAccess
import BrokerRPC
import BrokerValues

/// Who answers a method. The rights are behind it: ``RequestPipeline`` lets in the caller, and the app.
struct Handler<M: BrokerMethod, Output: Sendable>: Sendable where M.Params.NamedApp: Admissible {
    /// Called on the event loop: it must not wait and not touch the disk.
    let work: @Sendable (Request<M>) throws(BrokerError) -> Work<Output>
    /// Writes the result. When it throws, what it wrote is taken back.
    let write: @Sendable (Output, _ correlationID: String, inout JSONWriter) throws(BrokerError) -> Void
    /// What the log is told of a success.
    let outcome: @Sendable (Request<M>, Output) -> RequestOutcome

    func answer(
        _ output: Output, to id: RequestID?, _ correlationID: String, _ writer: inout JSONWriter
    ) throws(BrokerError) {
        guard let id else { return }
        let start = writer.bytes.count
        writer.beginResult(id: id)
        do throws(BrokerError) { try write(output, correlationID, &writer) } catch {
            writer.truncate(to: start)
            throw error
        }
        writer.endAnswer()
    }
}

/// What is left to do of a request.
enum Work<Output: Sendable>: Sendable {
    case done(Output)
    case waits(@Sendable () async throws(BrokerError) -> Output)
}

/// A ``Handler`` of whichever method.
struct AnyHandler: Sendable {
    let method: String
    let begin: @Sendable (Call, ConnectionContext, RequestPipeline, inout JSONWriter) -> Handling

    init<M: BrokerMethod, Output: Sendable>(
        _: M.Type, work: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<Output>,
        outcome: @escaping Outcome<M, Output> = { _, _ in .answered(M.self) },
        write: @escaping @Sendable (Output, _ correlationID: String, inout JSONWriter) throws(BrokerError) -> Void
    ) where M.Params.NamedApp: Admissible {
        let handler = Handler(work: work, write: write, outcome: outcome)
        method = M.name
        begin = { $2.begin($0, with: handler, in: $1, &$3) }
    }

    typealias Outcome<M: BrokerMethod, Output> = @Sendable (Request<M>, Output) -> RequestOutcome
    where M.Params.NamedApp: Admissible

    /// A method that is answered at once, on the event loop: its body must not wait and not touch the disk.
    static func atOnce<M: BrokerMethod>(
        _ method: M.Type, outcome: @escaping Outcome<M, M.Result> = { _, _ in .answered(M.self) },
        _ body: @escaping @Sendable (Request<M>) throws(BrokerError) -> M.Result
    ) -> AnyHandler where M.Params.NamedApp: Admissible {
        AnyHandler(
            method, work: { request throws(BrokerError) in .done(try body(request)) }, outcome: outcome
        ) { $0.write(to: &$2) }
    }

    /// A method whose body waits, or reads more than a few rows.
    static func waiting<M: BrokerMethod>(
        _ method: M.Type, outcome: @escaping Outcome<M, M.Result> = { _, _ in .answered(M.self) },
        _ body: @escaping @Sendable (Request<M>) async throws(BrokerError) -> M.Result
    ) -> AnyHandler where M.Params.NamedApp: Admissible {
        AnyHandler(
            method, work: { request in .waits { () throws(BrokerError) in try await body(request) } }, outcome: outcome
        ) { $0.write(to: &$2) }
    }
}
