import BrokerModel
import BrokerValues
import Synchronization

/// The part of the cache that is in memory. Reads are a dictionary look-up under a lock, good for an event loop; what is
/// not there yet is read from the vault by the `load…` functions, which the waiting path uses.
///
/// Only ``CacheWriter`` changes it, after the disk has taken (or refused) the change: what is here is what lies on disk once
/// that has taken everything. Of what is nothing it is known, of the last that were asked for, that there is nothing.
package final class CacheIndex: Sendable {
    fileprivate struct State {
        var groups: FairCache<GroupKey, GroupKey, KnownAccounts>
        var owners: FairCache<GroupKey, OwnerKey, CachedTokens>
        var families: FairCache<GroupKey, ClientKey, FamilyMembership>
        /// Of whom the disk has nothing, and memory neither.
        var absent: FairCache<GroupKey, AnyKey, Bool>
        /// What is being read from the vault at this moment.
        var reads: [UInt64: Read] = [:]
        var lastRead: UInt64 = 0
        /// Whether memory has what the disk does not: then nothing may be dropped.
        var ahead: Set<Partition> = []
        var hasUnflushedChanges: Bool { !ahead.isEmpty }
        /// What is kept although there is nothing: the disk still has what was deleted.
        var emptied: Set<AnyKey> = []

        init(_ limits: Limits) {
            groups = FairCache(limit: limits.accounts)
            owners = FairCache(limit: limits.tokens)
            families = FairCache(limit: limits.clients)
            absent = FairCache(limit: limits.absent)
        }
    }

    /// Somebody reads from the vault what is not in memory.
    fileprivate struct Read {
        let key: AnyKey
        /// What was read is of before a change.
        var isOvertaken = false
    }

    fileprivate enum AnyKey: Hashable, Sendable {
        case group(GroupKey)
        case owner(OwnerKey)
        case client(ClientKey)

        var partition: Partition {
            switch self {
            case .group(let key): key.partition
            case .owner(let key): key.partition
            case .client(let key): key.partition
            }
        }
    }

    private let vault: any RecordVault
    private let idle: Limits
    private let state: Mutex<State>

    package init(vault: any RecordVault, limits: Limits = Limits(), idle: Limits = .idle) {
        self.vault = vault
        self.idle = resting
        state = Mutex(State(limits))
    }

    /// Roughly the bytes of a partition's accounts and tokens in memory.
    func weight(of partition: Partition) -> Int {
        state.withLock { state in
            let groups = state.groups.keys.filter { $0.partition == partition }
            let owners = state.owners.keys.filter { $0.partition == partition }
            return groups.reduce(0) { $0 + (state.groups.peek($1)?.weight ?? 0) }
                + owners.reduce(0) { $0 + (state.owners.peek($1)?.weight ?? 0) }
        }
    }

    /// How many groups, owners and clients are in memory.
    package var count: Int { state.withLock { $0.groups.count + $0.owners.count + $0.families.count } }

    package func accounts(of key: GroupKey) -> KnownAccounts? { state.withLock { $0.groups.useHere(key) } }
    package func tokens(of key: OwnerKey) -> CachedTokens? { state.withLock { $0.owners.useHere(key) } }

    package func loadAccounts(of key: GroupKey) throws(VaultError) -> KnownAccounts {
        let bucket = [key.group.rawValue]
        return try load(.group(key)) {
            $0.groups.use(key)
        } reading: { vault throws(VaultError) in
            let records = try vault.load(AccountRecord.self, bucket: bucket, in: key.partition)
            return KnownAccounts(
                try records.map { record throws(VaultError) in try KnownAccounts.Entry(record, in: vault) },
                signOuts: try vault.load(SignOutRecord.self, bucket: bucket, in: key.partition))
        } keeping: {
            if !$1.isEmpty { $0.keep($1, of: key) }
        }
    }

    package func loadTokens(of key: OwnerKey) throws(VaultError) -> CachedTokens {
        let bucket = key.owner.bucket
        return try load(.owner(key)) {
            $0.owners.use(key) ?? ($0.isAbsent(.owner(key)) ? CachedTokens() : nil)
        } reading: { vault throws(VaultError) in
            CachedTokens(
                accessTokens: try vault.load(AccessTokenRecord.self, bucket: bucket, in: key.partition),
                refreshTokens: try vault.load(RefreshTokenRecord.self, bucket: bucket, in: key.partition),
                idTokens: try vault.load(IDTokenRecord.self, bucket: bucket, in: key.partition),
                proofKey: try vault.load(ProofKeyRecord.self, bucket: bucket, in: key.partition).first)
        } keeping: {
            if $1.isEmpty { $0.note(absent: .owner(key), of: key.group) } else { $0.keep($1, of: key) }
        }
    }

    package func loadMembership(of key: ClientKey) throws(VaultError) -> FamilyMembership {
        try load(.client(key)) {
            $0.families.use(key) ?? ($0.isAbsent(.client(key)) ? .unknown : nil)
        } reading: { vault throws(VaultError) in
            FamilyMembership(try Self.storedMetadata(of: key, vault))
        } keeping: {
            if $1 == .unknown { $0.note(absent: .client(key), of: key.groupKey) } else { $0.keep($1, of: key) }
        }
    }

    /// How apps see an account that is about to be written.
    func entry(of account: StoredRecord<AccountRecord>) throws(VaultError) -> KnownAccounts.Entry {
        try KnownAccounts.Entry(account, in: vault)
    }

    /// Of all groups, in one stable order; for lists, not for requests.
    func loadEveryAccount(in partition: Partition) throws(VaultError) -> [KnownAccounts.Entry] {
        let groups = Set(try vault.loadAll(AccountRecord.self, in: partition).map(\.record.group))
        var all: [KnownAccounts.Entry] = []
        for group in groups.union(groupsInMemory(of: partition)) {
            all += try loadAccounts(of: GroupKey(partition: partition, group: group)).entries
        }
        return KnownAccounts.sorted(all)
    }

    /// Every group that knows somebody, if only as signed out of an app; for lists, not for requests.
    func loadEveryGroup(in partition: Partition) throws(VaultError) -> Set<GroupID> {
        let groups = Set(try vault.loadAll(AccountRecord.self, in: partition).map(\.record.group))
        return groups.union(try vault.loadAll(SignOutRecord.self, in: partition).map(\.record.group))
            .union(groupsInMemory(of: partition))
    }

    private func groupsInMemory(of partition: Partition) -> [GroupID] {
        state.withLock { $0.groups.keys.filter { $0.partition == partition }.map(\.group) }
    }

    /// Whose tokens there are; for sign-out, not for requests. The disk knows tokens of clients that no app is registered
    /// with any more, and memory those that the disk refused so far.
    func loadEveryOwner(in partition: Partition) throws(VaultError) -> Set<TokenOwner> {
        var owners = Set(try vault.loadAll(AccessTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(RefreshTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(IDTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(ProofKeyRecord.self, in: partition).map(\.record.owner))
        return owners.union(state.withLock { $0.owners.keys.filter { $0.partition == partition }.map(\.owner) })
    }

    /// Imported refresh tokens, in whichever groups they are (``BrokerModel/RefreshTokenRecord/origin``). Reads all refresh
    /// tokens of the partition: for the write queue, and for imported ones only.
    ///
    /// - Parameter draft: what is about to become of them.
    func loadRefreshTokens(
        ofOrigins origins: Set<String>, in partition: Partition, amid draft: PendingChanges? = nil
    ) throws(VaultError) -> [StoredRecord<RefreshTokenRecord>] {
        guard !origins.isEmpty else { return [] }
        func matches(_ record: RefreshTokenRecord) -> Bool { record.origin.map(origins.contains) ?? false }
        var owners = Set(
            try vault.loadAll(RefreshTokenRecord.self, in: partition).map(\.record).filter(matches).map(\.owner))
        owners.formUnion(state.withLock { $0.owners.keys.filter { $0.partition == partition }.map(\.owner) })
        var found: [StoredRecord<RefreshTokenRecord>] = []
        for owner in owners {
            let key = OwnerKey(partition: partition, owner: owner)
            let tokens = if let draft { try draft.loadTokens(of: key) } else { try loadTokens(of: key) }
            found += tokens.refreshTokens.filter { matches($0.record) }
        }
        return found
    }

    /// The record that says so, with what an imported one had besides.
    func metadata(_ membership: FamilyMembership, of key: ClientKey) throws(VaultError) -> AppMetadataRecord {
        var record = try Self.storedMetadata(of: key, vault) ?? AppMetadataRecord(of: key)
        record.familyID = if case .member(let family) = membership { family } else { nil }
        return record
    }

    /// Removes what is known of all clients.
    func deletionOfMetadata(in partition: Partition) throws(VaultError) -> [CacheChange.Row] {
        var rows: [CacheChange.Row] = []
        for stored in try vault.loadAll(AppMetadataRecord.self, in: partition) {
            rows.append(.appMetadata(.delete(stored)))
        }
        return rows
    }

    /// Reads the disk.
    func loadMetadata(of key: ClientKey) throws(VaultError) -> AppMetadataRecord? {
        try Self.storedMetadata(of: key, vault)
    }

    private static func storedMetadata(
        of key: ClientKey, _ vault: any RecordVault
    ) throws(VaultError) -> AppMetadataRecord? {
        try vault.load(AppMetadataRecord.self, bucket: AppMetadataRecord(of: key).bucket, in: key.partition)
            .first?.record
    }

    /// Looks into memory, else reads, and keeps what was read. A change that came in between is newer: it is in memory, or,
    /// where it has been dropped from there again already, it is read again.
    private func load<Value: Sendable>(
        _ key: AnyKey, known: (inout State) -> Value?, reading: (any RecordVault) throws(VaultError) -> Value,
        keeping: (inout State, Value) -> Void
    ) throws(VaultError) -> Value {
        while true {
            let (value, read) = state.withLock { state -> (Value?, UInt64) in
                if let value = known(&state) { return (value, 0) }
                state.lastRead += 1
                state.reads[state.lastRead] = Read(key: key)
                return (nil, state.lastRead)
            }
            if let value { return value }
            let fresh: Result<Value, VaultError>
            do throws(VaultError) { fresh = .success(try reading(vault)) } catch { fresh = .failure(error) }
            let answer = state.withLock { state -> Result<Value, VaultError>? in
                let isOvertaken = state.reads.removeValue(forKey: read)?.isOvertaken ?? true
                if let newer = known(&state) { return .success(newer) }
                guard !isOvertaken else { return nil }
                if case .success(let value) = fresh, !state.isFull { keeping(&state, value) }
                return fresh
            }
            makeRoom()
            if let answer { return try answer.get() }
        }
    }
}

// MARK: - Changes

extension CacheIndex {
    /// Brings what was changed into memory. Only ``CacheWriter`` calls it: nobody else changes what a draft was made from.
    ///
    /// - Parameter isOnDisk: false where the disk lacks it: then it must not be dropped.
    func take(_ around: AffectedRecords, in partition: Partition, isOnDisk: Bool) {
        state.withLock { state in
            state.ahead.insert(partition)
            for (key, known) in around.groups {
                state.overtake(.group(key))
                state.keep(known, of: key)
            }
            for (key, tokens) in around.owners {
                state.overtake(.owner(key))
                state.keep(tokens, of: key)
            }
            for (key, membership) in around.families {
                state.overtake(.client(key))
                state.keep(membership, of: key)
            }
            if isOnDisk { state.didFlush(of: partition) }
        }
        makeRoom()
    }

    /// Forgets everything, which the disk has as well: it is read again when it is asked for.
    func forget() { forget { _ in true } }

    /// As ``forget()``, for one person: of others the disk may lack what memory has.
    func forget(_ partition: Partition) { forget { $0 == partition } }

    private func forget(_ matches: (Partition) -> Bool) {
        state.withLock { state in
            for (number, read) in state.reads where matches(read.key.partition) {
                state.reads[number]?.isOvertaken = true
            }
            state.groups.removeAll { key, _ in matches(key.partition) }
            state.owners.removeAll { key, _ in matches(key.partition) }
            state.families.removeAll { key, _ in matches(key.partition) }
            state.absent.removeAll { key, _ in matches(key.partition) }
            state.emptied = state.emptied.filter { !matches($0.partition) }
        }
    }

    /// The disk has everything that memory has of a person.
    func didFlush(of partition: Partition) {
        state.withLock { $0.didFlush(of: partition) }
        makeRoom()
    }

    /// When nothing was asked for in a while: of whoever has the most, what was not used for longest goes, and is read again. What a
    /// burst brought into memory lies far apart, and each of it keeps a page (docs/decisions/0100).
    package func trim() { makeRoom(to: idle) }

    /// Little by little, for others look something up meanwhile; and what goes is let go outside of the lock.
    private func makeRoom(to limits: Limits? = nil) {
        var isDone = false
        while !isDone {
            // Each step looks at all owners. A idle broker has time, and who comes then shall not wait.
            let gone = state.withLock { $0.makeRoom(to: limits, steps: limits == nil ? 16 : 1) }
            isDone = gone.isEmpty
        }
    }
}

extension CacheIndex.State {
    mutating func keep(_ known: KnownAccounts, of key: CacheIndex.GroupKey) {
        guard has(something: !known.isEmpty, of: .group(key)) else { return _ = groups.remove(key) }
        groups.keep(known, for: key, of: key, weight: known.weight)
    }

    mutating func keep(_ tokens: CachedTokens, of key: CacheIndex.OwnerKey) {
        guard has(something: !tokens.isEmpty, of: .owner(key)) else { return _ = owners.remove(key) }
        owners.keep(tokens, for: key, of: key.group, weight: tokens.weight)
    }

    mutating func keep(_ membership: FamilyMembership, of key: CacheIndex.ClientKey) {
        guard has(something: membership != .unknown, of: .client(key)) else { return _ = families.remove(key) }
        families.keep(membership, for: key, of: key.groupKey)
    }

    /// Whether it is to be kept.
    private mutating func has(something: Bool, of key: CacheIndex.AnyKey) -> Bool {
        if something { emptied.remove(key) } else if hasUnflushedChanges { emptied.insert(key) }
        _ = absent.remove(key)
        return something || hasUnflushedChanges
    }

    mutating func isAbsent(_ key: CacheIndex.AnyKey) -> Bool { absent.use(key) != nil }

    mutating func note(absent key: CacheIndex.AnyKey, of group: CacheIndex.GroupKey) {
        if !hasUnflushedChanges { absent.keep(true, for: key, of: group) }
    }

    mutating func didFlush(of partition: Partition) {
        ahead.remove(partition)
        guard !hasUnflushedChanges else { return }
        for key in emptied {
            switch key {
            case .group(let key): groups.remove(key)
            case .owner(let key): owners.remove(key)
            case .client(let key): families.remove(key)
            }
        }
        emptied = []
    }

    /// Whoever reads this at the moment has read too early.
    mutating func overtake(_ key: CacheIndex.AnyKey) {
        for (number, read) in reads where read.key == key { reads[number]?.isOvertaken = true }
    }

    private var isOverLimit: Bool {
        groups.isOverLimit || owners.isOverLimit || families.isOverLimit || absent.isOverLimit
    }

    /// There is no room, and none can be made.
    var isFull: Bool { hasUnflushedChanges && isOverLimit }

    /// - Parameter limits: the usual ones if left out.
    /// - Returns: what went.
    mutating func makeRoom(to limits: CacheIndex.Limits?, steps: Int) -> [any Sendable] {
        guard !hasUnflushedChanges else { return [] }
        return groups.makeRoom(to: limits?.accounts, steps: steps) + owners.makeRoom(to: limits?.tokens, steps: steps)
            + families.makeRoom(to: limits?.clients, steps: steps) + absent.makeRoom(to: limits?.absent, steps: steps)
    }
}

extension AppMetadataRecord {
    init(of key: CacheIndex.ClientKey) {
        self.init(group: key.group, clientID: key.clientID, environment: key.environment, familyID: nil)
    }
}

extension SealedRecord {
    /// Roughly the bytes it takes in memory, with its fields in the clear and what is around them.
    var weight: Int { box.count + 1_024 }
}

extension FairCache {
    /// ``use(_:)`` of the hot path: compiled here it knows its types, and that of another module looks them up each time.
    fileprivate mutating func useHere(_ key: Key) -> Value? {
        guard let number = placeOf[key] else { return nil }
        touch(number)
        return valuesAt[number]
    }
}
