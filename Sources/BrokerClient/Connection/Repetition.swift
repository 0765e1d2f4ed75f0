import BrokerRPC
import BrokerValues

/// What follows from the outcomes of one call: its result, an error, or another attempt on a new connection. Pure.
///
/// A request that the broker cannot have seen is sent again as often as there is time. One whose answer was lost, or
/// that a broker refused because it was about to stop, is sent once more if carrying it out twice does no harm.
struct Repetition {
    enum Verdict {
        case result(JSONNode)
        case failure(BrokerClientError)
        /// Fails with the error when there is no time left.
        case again(otherwise: BrokerClientError)
    }

    private var isRepeatable: Bool

    init(of method: String) { isRepeatable = Self.repeatable.contains(method) }

    mutating func verdict(on outcome: Link.Outcome) -> Verdict {
        switch outcome {
        case .answer(.success(let result)): return .result(result)
        case .answer(.failure(let error)), .dismissed(let error):
            let isRestart = error.brokerError.reason == .shuttingDown
            return isRestart && takeRepetition() ? .again(otherwise: .init(error)) : .failure(.init(error))
        case .lost(let sent): return !sent || takeRepetition() ? .again(otherwise: .lost) : .failure(.lost)
        case .tooLong: return .failure(.tooLong)
        case .garbled: return .failure(.notUnderstood(cause: nil))
        case .abandoned: return .failure(.taskCancelled)
        }
    }

    private mutating func takeRepetition() -> Bool {
        defer { isRepeatable = false }
        return isRepeatable
    }

    /// Methods that may be carried out twice where once was meant: those that only read, and the silent acquisition, whose
    /// second call finds what the first one put into the cache.
    private static let repeatable: Set<String> = [
        "token.acquireSilent", "token.proof", "accounts.list", "accounts.get", "accounts.current", "apps.list",
        "broker.status", "rpc.discover",
    ]
}
