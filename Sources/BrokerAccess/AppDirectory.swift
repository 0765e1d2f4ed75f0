import BrokerModel
import BrokerValues
import Synchronization

/// The registered apps: in the vault, and in memory for the hot path.
package final class AppDirectory: AppRoster {
    private struct State {
        var authorities: AuthorityReader
        /// By partition and name; a partition is read when it is first asked for, and again after each change.
        var apps: [Partition: [String: AppRegistration]] = [:]
        /// Counts changes: what was read before one is not kept after it.
        var changes: UInt64 = 0

        mutating func forget(_ partition: Partition) {
            apps[partition] = nil
            changes += 1
        }
    }

    private let vault: any RecordVault
    private let state: Mutex<State>

    /// - Parameter authorities: the kinds of providers that the administrator names; a registration is read by them.
    package init(vault: any RecordVault, authorities: AuthorityReader = AuthorityReader()) {
        self.vault = vault
        state = Mutex(State(authorities: authorities))
    }

    /// Reads the registrations by other kinds of providers from the next request on.
    package func apply(_ authorities: AuthorityReader) {
        state.withLock { state in
            guard state.authorities != authorities else { return }
            state.authorities = authorities
            state.apps = [:]
            state.changes += 1
        }
    }

    package func app(named name: String, in partition: Partition) throws(BrokerError) -> AppRegistration? {
        try apps(of: partition)[name]
    }

    /// Ordered by name.
    package func list(in partition: Partition) throws(BrokerError) -> [AppRegistration] {
        try apps(of: partition).values.sorted { $0.name < $1.name }
    }

    package func apps(in partition: Partition) -> [AppRegistration] { (try? list(in: partition)) ?? [] }

    package func members(of group: GroupID, in partition: Partition) throws(BrokerError) -> [GroupMember] {
        try list(in: partition).filter { $0.effectiveGroup == group }.map { GroupMember($0) }
    }

    /// Whether an app could be registered once it has a client id.
    package func check(draft: AppRegistration) throws(BrokerError) {
        var draft = draft
        draft.clientID = "?"
        try AppRules.check(draft)
    }

    /// Replaces an app of the same name. A client secret that is not given again is gone.
    package func register(_ app: AppRegistration, in partition: Partition) async throws(BrokerError) {
        try AppRules.check(app)
        do throws(VaultError) {
            let record = try vault.seal(AppRecord(app), secret: app.clientSecret, in: partition)
            try await vault.commit(VaultChange(in: partition, puts: [record.sealed]))
        } catch {
            throw Self.notWritten(error)
        }
        state.withLock { $0.forget(partition) }
    }

    /// Its accounts and tokens stay: another app of its group may use them, and registering it again finds them.
    ///
    /// - Returns: the app that was removed.
    /// - Throws: `appNotFound`.
    package func remove(named name: String, in partition: Partition) async throws(BrokerError) -> AppRegistration {
        guard let app = try app(named: name, in: partition) else { throw Self.notFound(name) }
        do throws(VaultError) {
            try await vault.commit(VaultChange(in: partition, deletes: [AppRecord(app).key]))
        } catch {
            throw Self.notWritten(error)
        }
        state.withLock { $0.forget(partition) }
        return app
    }

    static func notFound(_ name: String) -> BrokerError {
        BrokerError(
            .appNotFound,
            "No app is registered under this name; see brokerctl apps list, or add it with brokerctl apps add."
        ) { $0.app = name }
    }

    private static func notWritten(_ error: VaultError) -> BrokerError {
        BrokerError(
            .internal, "The registration could not be written; see the broker's log, and try again.",
            reason: .vaultNotWritable, cause: error)
    }

    private func apps(of partition: Partition) throws(BrokerError) -> [String: AppRegistration] {
        while true {
            let (known, authorities, changes) = state.withLock { ($0.apps[partition], $0.authorities, $0.changes) }
            if let known { return known }
            let read = try read(partition, by: authorities)
            let isCurrent = state.withLock { state in
                guard state.changes == changes else { return false }
                state.apps[partition] = read
                return true
            }
            if isCurrent { return read }
        }
    }

    private func read(
        _ partition: Partition, by authorities: AuthorityReader
    ) throws(BrokerError) -> [String: AppRegistration] {
        var apps: [String: AppRegistration] = [:]
        do throws(VaultError) {
            for stored in try vault.loadAll(AppRecord.self, in: partition) {
                let secret = stored.record.isConfidential ? try vault.secret(of: stored.sealed) : nil
                apps[stored.record.name] = AppRegistration(
                    stored.record, authority: authorities.recorded(stored.record.authority), clientSecret: secret)
            }
        } catch {
            throw BrokerError(
                .internal, "The registered apps could not be read; see the broker's log.", reason: .vaultDamaged,
                cause: error)
        }
        return apps
    }
}

extension AppRegistration {
    /// Nil when the record's authority is not one: it was checked before it was written.
    fileprivate init?(_ record: AppRecord, authority: Authority?, clientSecret: Secret?) {
        guard let authority else { return nil }
        self.init(
            name: record.name, clientID: record.clientID, authority: authority, group: record.group,
            scopes: record.scopes, redirectURI: record.redirectURI, executables: record.executables,
            units: record.units, sandboxIDs: record.sandboxIDs, clientSecret: clientSecret,
            isInstanceAware: record.isInstanceAware ?? false)
    }
}
