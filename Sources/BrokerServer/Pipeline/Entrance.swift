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

    /// Whether it has to be looked up first whose the caller's records are.
    func mustLookUp<M: BrokerMethod>(_: M.Type, _ context: ConnectionContext) -> Bool {
        // While it is locked nobody can read whose the records are.
        guard let owners, !M.worksLocked || !lock.isLocked else { return false }
        return !owners.isCertain(of: context.caller.partition)
    }

    /// Lets a request in when its time has come: the account was looked up, and the person has allowed the caller.
    func admitLater<M: BrokerMethod>(
        _ params: M.Params, _ app: M.Params.NamedApp, _ correlationID: String, _ context: ConnectionContext
    ) async throws(BrokerError) -> Request<M> {
        if !M.worksLocked || !lock.isLocked { try await owners?.check(context.caller.partition) }
        do throws(BrokerError) { return try admit(params, app, correlationID, context) } catch {
            guard let wait = GrantWait(error, params, correlationID, context, policy) else { throw error }
            return try await wait.untilAdmitted { () throws(BrokerError) in
                try admit(params, app, correlationID, context)
            }
        }
    }

    /// Who was let in has the vault's keys, where the method needs them, until ``leave(_:)``.
    ///
    /// - Throws: `locked`; what ``AccessPolicy/admit(_:as:reaching:)`` throws.
    func admit<M: BrokerMethod>(
        _ params: M.Params, _ app: M.Params.NamedApp, _ correlationID: String, _ context: ConnectionContext
    ) throws(BrokerError) -> Request<M> {
        guard M.worksLocked || lock.enter() else { throw BrokerLock.error }
        do throws(BrokerError) {
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
