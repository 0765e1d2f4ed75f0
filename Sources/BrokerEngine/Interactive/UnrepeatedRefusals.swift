import BrokerValues
import Synchronization

/// Refusals that may be about `offline_access`, and that no second request followed in the same sign-in: no browser waited
/// for one, or the code was refused. The next sign-in that asks the same is the second request (decision 17).
///
/// They are in memory only: after a restart such a sign-in is refused once more.
final class UnrepeatedRefusals: Sendable {
    /// With more of them, all are forgotten.
    private static let limit = 16
    private let errors = Mutex<[SignInKey: BrokerError]>([:])

    func keep(_ error: BrokerError, of question: SignInKey) {
        errors.withLock { errors in
            if errors.count >= Self.limit { errors = [:] }
            errors[question] = error
        }
    }

    /// - Returns: the refusal, once.
    func take(_ question: SignInKey) -> BrokerError? { errors.withLock { $0.removeValue(forKey: question) } }
}
