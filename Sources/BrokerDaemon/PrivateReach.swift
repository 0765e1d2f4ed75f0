import BrokerAccess
import Synchronization

/// Which providers may be on this machine or on a private network (`access.allow_private_authorities`): those of registered apps may
/// be anywhere, those that callers name where the configuration allows it.
final class PrivateReach: Sendable {
    private let state: Mutex<(allowsAll: Bool, directory: AppDirectory?)>

    init(allowsAll: Bool) { state = Mutex((allowsAll: allowsAll, directory: nil)) }

    func apply(allowsAll: Bool) { state.withLock { $0.allowsAll = allowsAll } }

    func apply(_ directory: AppDirectory) { state.withLock { $0.directory = directory } }

    /// - Parameter issuer: as ``BrokerModel/Authority/trustBoundary`` has it.
    func isGranted(to issuer: String) -> Bool {
        let (allowsAll, directory) = state.withLock { $0 }
        return allowsAll || directory?.hasApp(within: issuer) == true
    }
}
