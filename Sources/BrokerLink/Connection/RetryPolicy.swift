import BrokerRPC
import BrokerValues

/// Decides after each outcome of a call: its result, an error, or another attempt on a new connection. Pure.
///
/// A request that the broker cannot have seen is sent again as often as time allows. One that a broker refused because
/// it was about to stop is sent once more: it was not executed. One whose answer was lost is sent once more if
/// the method is idempotent (``BrokerMethod/isIdempotent``).
struct RetryPolicy {
    enum Verdict {
        case result(JSONNode)
        case failure(BrokerClientError)
        /// Fails with the error if there is no time left.
        case again(otherwise: BrokerClientError)
    }

    private let isIdempotent: Bool
    private let location: SocketLocation
    private var isRepeated = false

    init(isIdempotent: Bool, at location: SocketLocation) {
        self.isIdempotent = isIdempotent
        self.location = location
    }

    /// - Parameter loss: the error of a request whose connection ended without an answer.
    mutating func verdict(
        on outcome: Link.Outcome, loss: @autoclosure () -> BrokerClientError = .lost
    ) -> Verdict {
        switch outcome {
        case .answer(.result(let result)): return .result(result)
        case .answer(.error(let error)):
            let isRefused = error.brokerError.reason == .shuttingDown
            return isRefused && takeRepetition() ? .again(otherwise: .init(error)) : .failure(.init(error))
        case .dismissed(let error): return .failure(.init(error))
        case .lost(let sent):
            return !sent || isIdempotent && takeRepetition() ? .again(otherwise: loss()) : .failure(loss())
        case .tooLong: return .failure(.tooLong)
        case .garbled: return .failure(.notUnderstood(cause: nil))
        case .abandoned: return .failure(.taskCancelled)
        case .tooLate: return .failure(.noAnswer(at: location))
        }
    }

    private mutating func takeRepetition() -> Bool {
        defer { isRepeated = true }
        return !isRepeated
    }
}

extension Link.Outcome {
    /// The broker answered that it is about to stop: further requests are for its successor, on a new connection.
    var announcesStop: Bool {
        guard case .answer(.error(let error)) = self else { return false }
        return switch error.brokerError.reason {
        case .shuttingDown, .interrupted: true
        default: false
        }
    }
}
