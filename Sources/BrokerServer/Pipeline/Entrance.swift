import BrokerAccess
import BrokerEngine
import BrokerRPC
import BrokerValues

/// What a request has to pass before its handler gets it.
struct Entrance: Sendable {
    let policy: AccessPolicy
    let lock: BrokerLock
    /// Nil where the broker serves one user.
    let owners: PartitionOwners?

    /// Who was let in has the vault's keys, where the method needs them, until ``leave(_:)``.
    ///
    /// - Throws: `locked`; what ``AccessPolicy/admit(_:as:reaching:)`` throws.
    func admit<M: BrokerMethod>(
        _ params: M.Params, _ app: M.Params.NamedApp, _ correlationID: String, _ context: ConnectionContext
    ) throws(BrokerError) -> Request<M> {
        guard M.worksLocked || lock.enter() else { throw BrokerLock.error }
        do throws(BrokerError) {
            if !M.worksLocked { try owners?.check(context.caller.partition) }
            let admitted = try app.admitted(context, reaching: params.reach, by: policy)
            return Request(
                params: params, app: admitted.app, grant: admitted.grant, correlationID: correlationID,
                context: context)
        } catch {
            leave(M.self)
            throw error
        }
    }

    func leave<M: BrokerMethod>(_: M.Type) {
        if !M.worksLocked { lock.leave() }
    }
}
