import BrokerAccess
import BrokerEngine
import BrokerRPC
import BrokerValues

/// What a request has to pass before its handler gets it.
struct Entrance: Sendable {
    let policy: AccessPolicy
    let lock: BrokerLock

    /// - Throws: `locked`, when the method needs the vault's keys. Otherwise they stay until ``leave(_:)``.
    func enter<M: BrokerMethod>(_: M.Type) throws(BrokerError) {
        guard M.worksLocked || lock.enter() else { throw BrokerLock.error }
    }

    func leave<M: BrokerMethod>(_: M.Type) {
        if !M.worksLocked { lock.leave() }
    }
}
