import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// Refusals that may be about `offline_access`, and that no second request followed in the same sign-in: no browser waited
/// for one, or the code was refused. The client's sign-ins for the same scopes are the second request until the provider
/// has answered one (decision 17).
///
/// They are in memory only: after a restart such a sign-in is refused once more.
final class UnrepeatedRefusals: Sendable {
    struct Question: Sendable, Hashable {
        let client: ClientKey
        let scopes: Scopes
    }

    /// With more of them, another one is forgotten: one of the same person's, if there is one.
    private static let limit = 64
    private let errors = Mutex<[Question: BrokerError]>([:])

    func keep(_ error: BrokerError, of question: Question) {
        errors.withLock { errors in
            if errors.count >= Self.limit, errors[question] == nil {
                let own = errors.keys.first { $0.client.partition == question.client.partition }
                if let other = own ?? errors.keys.first { errors[other] = nil }
            }
            errors[question] = error
        }
    }

    func refusal(of question: Question) -> BrokerError? { errors.withLock { $0[question] } }

    /// The provider has answered the second request.
    func forget(_ question: Question) { errors.withLock { $0[question] = nil } }
}
