import BrokerEngine
import BrokerModel
import BrokerValues
import Synchronization

/// Apps that a test registers, or that cannot be read.
final class RosterDouble: AppRoster {
    private let known = Mutex<[AppRegistration]>([])
    private let failure = Mutex<BrokerError?>(nil)

    func set(_ apps: [AppRegistration]) { known.withLock { $0 = apps } }
    func fail(_ error: BrokerError?) { failure.withLock { $0 = error } }

    func forget() {}

    func apps(in partition: Partition) -> [AppRegistration] {
        failure.withLock { $0 } == nil ? known.withLock { $0 } : []
    }

    func members(of group: GroupID, in partition: Partition) throws(BrokerError) -> [GroupMember] {
        if let error = failure.withLock({ $0 }) { throw error }
        return known.withLock { $0 }.filter { $0.effectiveGroup == group }.map { GroupMember($0) }
    }
}
