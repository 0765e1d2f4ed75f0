import BrokerEngine
import BrokerModel
import BrokerValues
import Synchronization

/// Apps that a test registers, or that cannot be read.
final class RosterDouble: AppRoster {
    private let known = Mutex<[AppRegistration]>([])
    private let failure = Mutex<BrokerError?>(nil)
    private let restored = Mutex<[(name: String, secret: Secret?)]>([])

    func set(_ apps: [AppRegistration]) { known.withLock { $0 = apps } }
    func fail(_ error: BrokerError?) { failure.withLock { $0 = error } }

    func forget() {}

    func apps(in partition: Partition) -> [AppRegistration] {
        failure.withLock { $0 } == nil ? known.withLock { $0 } : []
    }

    func restore(
        _ record: AppRecord, clientSecret: Secret?, replacing: Bool, in partition: Partition
    ) -> RestoredApp {
        restored.withLock { $0.append((record.name, clientSecret)) }
        return .added
    }

    /// Registrations from a backup.
    var restoredApps: [(name: String, secret: Secret?)] { restored.withLock { $0 } }

    func members(of group: GroupID, in partition: Partition) throws(BrokerError) -> [GroupMember] {
        if let error = failure.withLock({ $0 }) { throw error }
        return known.withLock { $0 }.filter { $0.effectiveGroup == group }.map { GroupMember($0) }
    }
}
