import BrokerModel
import BrokerValues
import Synchronization

/// One authorization request, and the expectations for its answer.
struct AuthorizationAttempt {
    let metadata: ProviderMetadata
    /// The key to bind the tokens to.
    let proofKey: ProofKey?
    /// The scopes that count as granted if the provider names none.
    let sent: Scopes
    /// The scopes that the app asked for, without those that the broker adds.
    let asked: Scopes
    let verifier: Secret
    let authorization: AuthorizationRequest
}

/// The open authorization request. A provider that refuses `offline_access` is asked once more.
final class OpenAttempt: Sendable {
    private let state: Mutex<(current: AuthorizationAttempt, refused: BrokerError?)>

    /// - Parameter refused: the error of an earlier sign-in, if this is the second request (``UnrepeatedRefusals``).
    init(_ attempt: AuthorizationAttempt, after refused: BrokerError?) { state = Mutex((attempt, refused)) }

    var current: AuthorizationAttempt { state.withLock { $0.current } }
    /// The error that led to the second request.
    var refused: BrokerError? { state.withLock { $0.refused } }

    /// - Returns: `nil` if it was asked twice.
    func again(after error: BrokerError, _ make: (AuthorizationAttempt) -> AuthorizationAttempt)
        -> AuthorizationAttempt?
    {
        state.withLock { state in
            guard state.refused == nil else { return nil }
            state = (make(state.current), error)
            return state.current
        }
    }
}

extension AuthorizationRequest {
    /// The broker's ID token hint, or one that the app supplied.
    var hasIDToken: Bool {
        idTokenHint != nil || extraQueryParameters.keys.contains { $0.lowercased() == "id_token_hint" }
    }
}
