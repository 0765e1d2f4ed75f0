import BrokerEngine
import BrokerRPC
import BrokerValues

/// The answer to a request. Each front writes it in its own protocol.
enum Answer: Sendable {
    /// The token's secrets are sealed: a front lends them from the vault while it writes.
    case token(AcquiredToken)
    /// The first token of a watch, which begins when the answer is on its way.
    case watch(TokenWatch, AcquiredToken)
    case value(any WireValue)
    case json([UInt8])
}

/// An answer, and what the log says of it.
struct CompletedWork: Sendable {
    let answer: Answer
    let outcome: RequestOutcome
}

/// What is left to do of a request.
enum Work<Output: Sendable>: Sendable {
    case done(Output)
    case waits(@Sendable () async throws(BrokerError) -> Output)
}

extension Work {
    /// The same with another output. A check in the transformation holds for an answer at once and for a later one.
    func map<Other>(
        _ transform: @escaping @Sendable (Output) throws(BrokerError) -> Other
    ) throws(BrokerError) -> Work<Other> {
        switch self {
        case .done(let output): .done(try transform(output))
        case .waits(let output): .waits { () throws(BrokerError) in try transform(try await output()) }
        }
    }
}
