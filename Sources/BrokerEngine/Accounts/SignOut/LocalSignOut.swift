import BrokerModel
import BrokerValues

/// The parts of a sign-out that need nobody else: tokens go, and the account is remembered as signed out.
struct LocalSignOut: Sendable {
    let services: EngineServices
    let partition: Partition

    /// Of every app of the groups.
    func wipe(_ targets: SignOutTargets) async -> SignOutStages.Outcome {
        var outcome = SignOutStages.Outcome.done
        for group in targets.groups {
            let result = await forget(group, mark: nil)
            if result != .done { outcome = result }
        }
        return outcome
    }

    /// Of one app. While another app still uses the account, it stays signed in, and so do tokens that both use.
    ///
    /// - Parameter targets: of the app's group and client.
    func signOut(
        of app: AppRegistration, _ targets: SignOutTargets, usedByOthers: Bool, sharingTokens: Bool
    ) async -> SignOutStages.Outcome {
        guard var group = targets.groups.first, let account = group.entries.first?.stored.record else { return .done }
        if sharingTokens { group.deletes = [] }
        guard usedByOthers else { return await forget(group, mark: nil) }
        return await forget(
            group,
            mark: SignOutRecord(
                group: app.effectiveGroup, app: app.identity, homeAccountID: account.homeAccountID,
                environment: account.environment, since: services.clock.now))
    }

    /// - Parameter mark: says that one app only is signed out; nil signs the account out for the group.
    private func forget(_ group: SignOutTargets.Group, mark: SignOutRecord?) async -> SignOutStages.Outcome {
        do throws(VaultError) {
            var change = CacheChange(in: partition, group.deletes)
            if let mark {
                change.add(.signOut(.put(try services.vault.seal(mark, secret: nil, in: partition))))
            } else {
                for entry in group.entries {
                    var record = entry.stored.record
                    record.signedIn = false
                    record.signedOutAt = services.clock.now
                    change.add(.account(.put(try services.vault.seal(record, secret: nil, in: partition))))
                }
            }
            let final = change
            return try await services.writer.write { _ in (final, ()) }.isPersisted
                ? .done : .failed("it is done in memory, but the disk did not take it; the broker goes on trying.")
        } catch {
            return .failed(BrokerError(error).message)
        }
    }
}
