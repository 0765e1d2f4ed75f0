import BrokerAccess
import Synchronization

/// The providers that may be on this machine or on a private network (`access.allow_private_authorities`): those of registered apps
/// always, those that callers name only if the configuration allows it.
final class PrivateReach: Sendable {
    private let state: Mutex<(allowsAll: Bool, directory: AppDirectory?)>

    init(allowsAll: Bool) { state = Mutex((allowsAll: allowsAll, directory: nil)) }

    func apply(allowsAll: Bool) { state.withLock { $0.allowsAll = allowsAll } }

    func apply(_ directory: AppDirectory) { state.withLock { $0.directory = directory } }

    /// - Parameter issuer: a ``BrokerModel/Authority/trustBoundary``.
    func isGranted(to issuer: String) -> Bool {
        let (allowsAll, directory) = state.withLock { $0 }
        return allowsAll || directory?.hasApp(within: issuer) == true
    }
}
