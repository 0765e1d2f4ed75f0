import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The registered apps: in the vault, and in memory for the hot path.
package final class AppDirectory: AppRoster {
    private struct State {
        var authorities: AuthorityParser
        /// Apps from files. They hide the vault's apps of the same name, and belong to every partition.
        var files: [AppFileEntry] = []
        var memory: PartitionMemory<Registrations>
        /// The number of registrations in progress at each issuer.
        var considered: [String: Int] = [:]
    }

    private let vault: any RecordVault
    private let log: Logger
    private let state: Mutex<State>
    private let changedIn = Broadcast<Partition?>()
    /// A person's changes are made one after the other: each is judged by the registrations that it changes.
    let changes = KeyedLocks<Partition>()

    /// - Parameters:
    ///   - authorities: the provider kinds set by the administrator; registrations are parsed with them.
    ///   - memory: rough limit in bytes for the registrations of all partitions: more than one partition can have.
    package init(
        vault: any RecordVault, authorities: AuthorityParser = AuthorityParser(), memory: Int = 32 << 20, log: Logger
    ) {
        self.vault = vault
        self.log = log
        state = Mutex(State(authorities: authorities, memory: PartitionMemory(limit: memory) { $0.weight }))
    }

    /// Uses these apps from files from the next request on. An app that breaks the rules for registrations is ignored.
    package func apply(_ files: [AppFileEntry]) {
        defer { changedIn.tell(nil) }
        state.withLock { state in
            guard state.files != files else { return }
            state.files = files
            state.memory.forget()
        }
    }

    /// Parses the registrations with other provider kinds from the next request on.
    package func apply(_ authorities: AuthorityParser) {
        defer { changedIn.tell(nil) }
        let useless = state.withLock { state in
            guard state.authorities != authorities else { return [String]() }
            state.authorities = authorities
            state.memory.changeAll { $0 = $0.read(by: authorities) }
            return state.memory.values.flatMap(\.useless)
        }
        tell(ofUseless: useless)
    }

    /// Part of the hot path: a known partition costs one lookup.
    package func app(named name: String, in partition: Partition) throws(BrokerError) -> AppRegistration? {
        try registrations(of: partition)[name]?.app
    }

    /// - Throws: `appNotFound`.
    package func registered(_ name: String, in partition: Partition) throws(BrokerError) -> AppRegistration {
        guard let app = try app(named: name, in: partition) else { throw Self.notFound(name) }
        return app
    }

    /// Whether the registrations may be older than a person's later decisions. Part of the hot path.
    package func isRolledBack(_ partition: Partition) -> Bool { vault.isRolledBack(partition) }

    /// The usable apps of a partition, ordered by name.
    package func list(in partition: Partition) throws(BrokerError) -> [AppRegistration] {
        try registrations(of: partition).apps
    }

    package func apps(in partition: Partition) -> [AppRegistration] {
        do throws(BrokerError) {
            return try list(in: partition)
        } catch {
            log.error("the registered apps could not be read", metadata: ["cause": "\(error)"])
            return []
        }
    }

    /// Whether an app is registered at an issuer, in any partition whose registrations are in memory.
    ///
    /// - Parameter boundary: ``BrokerModel/Authority/trustBoundary``.
    package func hasApp(within boundary: String) -> Bool {
        state.withLock { state in
            state.considered[boundary] != nil
                || state.memory.values.contains { known in
                    known.apps.contains { $0.authority.trustBoundary == boundary }
                }
        }
    }

    /// Allows the authority to be on the networks of registered apps while a caller that may register an app there queries it.
    package func considering<Value>(
        _ authority: Authority, _ ask: () async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> Value {
        let boundary = authority.trustBoundary
        state.withLock { $0.considered[boundary, default: 0] += 1 }
        defer {
            state.withLock { state in
                let others = (state.considered[boundary] ?? 1) - 1
                state.considered[boundary] = others > 0 ? others : nil
            }
        }
        return try await ask()
    }

    package func members(of group: GroupID, in partition: Partition) throws(BrokerError) -> [GroupMember] {
        try registrations(of: partition).members(of: group)
    }

    package func forget() {
        state.withLock { $0.memory.forget() }
    }

    /// - Parameter deliver: called after a registration changed, with its partition, or `nil` for all partitions. It must not wait.
    func observe(_ deliver: @escaping @Sendable (Partition?) -> Void) -> Subscription { changedIn.subscribe(deliver) }

    /// Checks that an app could be registered once it has a client id.
    package func check(draft: AppRegistration, in partition: Partition) throws(BrokerError) {
        var draft = draft
        draft.clientID = "?"
        try AppRules.check(draft)
        try checkRoom(for: draft.name, in: partition)
    }

    /// The limit for one partition: all of its apps are in memory, or none.
    package static let maximumApps = 1_024

    /// The same letters in other bytes are one name in memory and to people, but two on disk: an app that was removed or limited
    /// would come back with the next start.
    ///
    /// - Throws: `invalidParameter`.
    func checkSpelling(of app: AppDescription, in partition: Partition) throws(BrokerError) {
        guard let known = try? registrations(of: partition), let other = known.otherSpelling(of: app) else { return }
        throw BrokerError(
            .invalidParameter,
            "\(other) already exists with a different Unicode encoding; give the name as it was given then, or another."
        ) { $0.app = app.name }
    }

    /// - Throws: `throttled`. If the registrations cannot be read, adding one is allowed: it may be the repair.
    func checkRoom(for name: String, in partition: Partition) throws(BrokerError) {
        guard let known = try? registrations(of: partition), known[name] == nil, known.count >= Self.maximumApps else {
            return
        }
        throw BrokerError(
            .throttled,
            "\(Self.maximumApps) apps are registered already, and more are not kept; remove some with brokerctl apps remove."
        )
    }

    /// The treatment of a registered app of the same name.
    package enum Previous {
        /// The registration is refused.
        case isKept
        /// A client secret that is not given again is dropped.
        case isReplaced
        /// The secret of a registered app is kept.
        case isReplacedKeepingSecret
    }

    /// - Returns: the app as registered.
    @discardableResult
    package func register(
        _ app: AppRegistration, overPrevious previous: Previous = .isReplaced, in partition: Partition
    ) async throws(BrokerError) -> AppRegistration {
        try await changes.holding(partition) { () async throws(BrokerError) in
            try checkIsOurs(app.name)
            var app = app
            switch previous {
            case .isKept: try checkIsNew(app, in: partition)
            case .isReplaced: break
            case .isReplacedKeepingSecret:
                if let before = try registrations(of: partition)[app.name], before.record.isConfidential {
                    app = try app.keepingSecret(of: before.app)
                }
            }
            try AppRules.check(app)
            try checkSpelling(of: app.description, in: partition)
            try checkRoom(for: app.name, in: partition)
            try await write(app, in: partition)
            return app
        }
    }

    /// Call it while ``changes`` are held.
    func write(_ app: AppRegistration, in partition: Partition) async throws(BrokerError) {
        let record = AppRecord(app)
        let sealed: SealedRecord
        do throws(VaultError) {
            sealed = try vault.seal(record, secret: app.clientSecret, in: partition).sealed
        } catch {
            throw Self.notWritten(error)
        }
        try await commit(record, as: sealed, clientSecret: app.clientSecret, in: partition)
    }

    /// - Throws: `invalidParameter` if an app of the name is registered, with what a replacement would drop.
    package func checkIsNew(_ app: AppRegistration, in partition: Partition) throws(BrokerError) {
        guard let before = try registrations(of: partition)[app.name] else { return }
        throw AppReplacement(before: before.record, after: app).refusal
    }

    /// The app's accounts and tokens stay: another app of its group may use them, and registering it again finds them.
    ///
    /// - Returns: the removed app, which may be unusable with the current providers.
    /// - Throws: `appNotFound`.
    package func remove(named name: String, in partition: Partition) async throws(BrokerError) -> AppRecord {
        try await changes.holding(partition) { () async throws(BrokerError) in
            try checkIsOurs(name)
            guard let registration = try registrations(of: partition)[name] else { throw Self.notFound(name) }
            try await commit(registration.record, as: nil, in: partition)
            return registration.app.map(AppRecord.init) ?? registration.record
        }
    }

    /// - Throws: `invalidParameter` for an app of a file.
    private func checkIsOurs(_ name: String) throws(BrokerError) {
        guard let origin = file(of: name) else { return }
        throw BrokerError(
            .invalidParameter, "This app is registered by \(origin); change it there, then reload the broker."
        ) { $0.app = name }
    }

    /// `PATH:LINE` of the file that registers the app, if one does.
    func file(of name: String) -> String? {
        state.withLock { $0.files.first { $0.description.name == name } }?.origin
    }

    /// The provider kinds in force.
    var authorities: AuthorityParser { state.withLock(\.authorities) }

    static func notFound(_ name: String) -> BrokerError {
        BrokerError(
            .appNotFound,
            "No app is registered under this name; see brokerctl apps list, or add it with brokerctl apps add."
        ) { $0.app = name }
    }

    private static func notWritten(_ error: VaultError) -> BrokerError {
        BrokerError(
            error, saying: "The registration could not be written; see the broker's log, and try again.",
            .vaultNotWritable)
    }

    /// Writes to disk, then to memory: the next request finds the partition in memory and need not read all of it.
    ///
    /// - Parameter sealed: the record to write; `nil` removes it.
    private func commit(
        _ record: AppRecord, as sealed: SealedRecord?, clientSecret: Secret? = nil, in partition: Partition
    ) async throws(BrokerError) {
        let change = VaultChange(
            in: partition, puts: [sealed].compactMap(\.self), deletes: sealed == nil ? [record.key] : [])
        do throws(VaultError) {
            try await vault.commit(change) { [self] in
                state.withLock { state in
                    // A file may register it by now.
                    guard !state.files.contains(where: { $0.description.name == record.name }) else { return }
                    let registration = Registration(record, clientSecret: clientSecret, by: state.authorities)
                    let kept = sealed == nil ? nil : registration
                    state.memory.write(in: partition) { $0[record.name] = kept }
                }
            }
        } catch {
            throw Self.notWritten(error)
        }
        changedIn.tell(partition)
    }

    func registrations(of partition: Partition) throws(BrokerError) -> Registrations {
        while true {
            if let known = state.withLock({ $0.memory.use(partition) }) { return known }
            let (authorities, reading) = state.withLock { ($0.authorities, $0.memory.beginReading(partition)) }
            let read: Registrations
            do throws(BrokerError) {
                read = try self.read(partition, by: authorities)
            } catch {
                state.withLock { $0.memory.end(reading) }
                throw error
            }
            let (known, unfit) = state.withLock { state in
                var read = state.authorities == authorities ? read : read.read(by: state.authorities)
                let unfit = read.add(state.files, by: state.authorities)
                return (state.memory.end(reading, with: read) { $0 }, unfit)
            }
            guard let known else { continue }
            for (entry, error) in unfit {
                log.error(
                    "an app of a file is unusable: \(error.message)",
                    metadata: ["app": "\(entry.description.name)", "file": "\(entry.origin)"])
            }
            tell(ofUseless: known.useless)
            return known
        }
    }

    private func read(
        _ partition: Partition, by authorities: AuthorityParser
    ) throws(BrokerError) -> Registrations {
        var read = Registrations()
        do throws(VaultError) {
            // One bucket has all of them, so the lists of other records are not read.
            for stored in try vault.load(AppRecord.self, bucket: [], in: partition) {
                let secret = stored.record.isConfidential ? try vault.secret(of: stored.sealed) : nil
                read[stored.record.name] = Registration(stored.record, clientSecret: secret, by: authorities)
            }
            return read
        } catch {
            throw BrokerError(
                error, saying: "The registered apps could not be read; see the broker's log.", .vaultDamaged)
        }
    }

    private func tell(ofUseless names: [String]) {
        for name in names.sorted() {
            log.error(
                "an app's authority does not fit the configured kind of its provider: fix the provider's table, or remove the app",
                metadata: ["app": "\(name)"])
        }
    }
}
