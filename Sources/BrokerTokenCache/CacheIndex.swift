import BrokerModel
import BrokerValues
import Synchronization

/// The part of the cache that is in memory. Reads are a dictionary look-up under a lock, safe on an event loop; missing entries are
/// read from the vault by the `load…` functions, which the waiting path uses.
///
/// Only ``CacheWriter`` changes it, after the disk has taken (or refused) the change: memory equals the disk as soon as that has
/// taken all changes. Recent misses are cached.
package final class CacheIndex: Sendable {
    fileprivate struct State {
        var groups: FairCache<GroupKey, GroupKey, KnownAccounts>
        var owners: FairCache<GroupKey, OwnerKey, CachedTokens>
        var families: FairCache<GroupKey, ClientKey, FamilyMembership>
        /// Keys with no records, on disk or in memory.
        var absent: FairCache<GroupKey, AnyKey, Bool>
        /// Reads from the vault in progress.
        var reads: [UInt64: Read] = [:]
        var lastRead: UInt64 = 0
        /// Partitions with changes that the disk lacks. While there are any, nothing may be evicted.
        var ahead: Set<Partition> = []
        var hasUnflushedChanges: Bool { !ahead.isEmpty }
        /// Empty entries that are kept because the disk still has what was deleted.
        var emptied: Set<AnyKey> = []

        init(_ limits: CacheLimits) {
            groups = FairCache(limit: limits.accounts)
            owners = FairCache(limit: limits.tokens)
            families = FairCache(limit: limits.clients)
            absent = FairCache(limit: limits.absent)
        }
    }

    /// A read from the vault in progress.
    fileprivate struct Read {
        let key: AnyKey
        /// Whether the record was changed since the read began.
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
    private let idle: CacheLimits
    private let state: Mutex<State>

    package init(vault: any RecordVault, limits: CacheLimits = CacheLimits(), idle: CacheLimits = .idle) {
        self.vault = vault
        self.idle = idle
        state = Mutex(State(limits))
    }

    /// Approximate bytes of a partition's accounts and tokens in memory.
    package func weight(of partition: Partition) -> Int {
        state.withLock { state in
            let groups = state.groups.keys.filter { $0.partition == partition }
            let owners = state.owners.keys.filter { $0.partition == partition }
            return groups.reduce(0) { $0 + (state.groups.peek($1)?.weight ?? 0) }
                + owners.reduce(0) { $0 + (state.owners.peek($1)?.weight ?? 0) }
        }
    }

    /// The number of groups, owners and clients in memory.
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
                try records.map { record throws(VaultError) in try KnownAccount(record, in: vault) },
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
        } reading: { _ throws(VaultError) in
            FamilyMembership(try loadMetadata(of: key))
        } keeping: {
            if $1 == .unknown { $0.note(absent: .client(key), of: key.groupKey) } else { $0.keep($1, of: key) }
        }
    }

    /// The apps' view of an account that is about to be written.
    func entry(of account: StoredRecord<AccountRecord>) throws(VaultError) -> KnownAccount {
        try KnownAccount(account, in: vault)
    }

    /// All groups' accounts in one stable order; for lists, not for requests.
    package func loadEveryAccount(in partition: Partition) throws(VaultError) -> [KnownAccount] {
        let groups = Set(try vault.loadAll(AccountRecord.self, in: partition).map(\.record.group))
        var all: [KnownAccount] = []
        for group in groups.union(groupsInMemory(of: partition)) {
            all += try loadAccounts(of: GroupKey(partition: partition, group: group)).entries
        }
        return KnownAccounts.sorted(all)
    }

    /// Every group that has a record of an account, even if only a sign-out; for lists, not for requests.
    package func loadEveryGroup(in partition: Partition) throws(VaultError) -> Set<GroupID> {
        let groups = Set(try vault.loadAll(AccountRecord.self, in: partition).map(\.record.group))
        return groups.union(try vault.loadAll(SignOutRecord.self, in: partition).map(\.record.group))
            .union(groupsInMemory(of: partition))
    }

    private func groupsInMemory(of partition: Partition) -> [GroupID] {
        state.withLock { $0.groups.keys.filter { $0.partition == partition }.map(\.group) }
    }

    /// Every owner of tokens; for sign-out, not for requests. The disk may have tokens of clients with which no app is registered
    /// any more, and memory those that the disk has refused so far.
    package func loadEveryOwner(in partition: Partition) throws(VaultError) -> Set<TokenOwner> {
        var owners = Set(try vault.loadAll(AccessTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(RefreshTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(IDTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(ProofKeyRecord.self, in: partition).map(\.record.owner))
        return owners.union(state.withLock { $0.owners.keys.filter { $0.partition == partition }.map(\.owner) })
    }

    /// Imported refresh tokens, in every group that has them (``BrokerModel/RefreshTokenRecord/origin``). Reads all refresh tokens
    /// of the partition: for the write queue, and for imported ones only.
    ///
    /// - Parameter tokens: reads an owner's tokens, amid changes that are pending.
    package func loadRefreshTokens(
        ofOrigins origins: Set<String>, in partition: Partition,
        from tokens: (OwnerKey) throws(VaultError) -> CachedTokens
    ) throws(VaultError) -> [StoredRecord<RefreshTokenRecord>] {
        guard !origins.isEmpty else { return [] }
        func matches(_ record: RefreshTokenRecord) -> Bool { record.origin.map(origins.contains) ?? false }
        var owners = Set(
            try vault.loadAll(RefreshTokenRecord.self, in: partition).map(\.record).filter(matches).map(\.owner))
        owners.formUnion(state.withLock { $0.owners.keys.filter { $0.partition == partition }.map(\.owner) })
        var found: [StoredRecord<RefreshTokenRecord>] = []
        for owner in owners {
            found += try tokens(OwnerKey(partition: partition, owner: owner)).refreshTokens.filter {
                matches($0.record)
            }
        }
        return found
    }

    /// The record of a membership, keeping the other fields of an existing one.
    package func metadata(_ membership: FamilyMembership, of key: ClientKey) throws(VaultError) -> AppMetadataRecord {
        var record = try loadMetadata(of: key) ?? AppMetadataRecord(of: key)
        record.familyID = if case .member(let family) = membership { family } else { nil }
        return record
    }

    /// Removes the metadata of all clients.
    package func deletionOfMetadata(in partition: Partition) throws(VaultError) -> [CacheChange.Row] {
        try vault.loadAll(AppMetadataRecord.self, in: partition).map { .appMetadata(.delete($0)) }
    }

    /// The client's record on disk.
    package func loadMetadata(of key: ClientKey) throws(VaultError) -> AppMetadataRecord? {
        try vault.load(AppMetadataRecord.self, bucket: AppMetadataRecord(of: key).bucket, in: key.partition)
            .first?.record
    }

    /// Looks into memory, else reads the vault and keeps the result. A change made in between is newer: it is in memory or, if it
    /// has been evicted again, is read again.
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
    /// Applies changes to memory. Only ``CacheWriter`` calls it: nothing else changes the state that a draft was based on.
    ///
    /// - Parameter isOnDisk: false if the disk lacks the change: then it must not be evicted.
    func take(_ affected: AffectedRecords, in partition: Partition, isOnDisk: Bool) {
        state.withLock { state in
            state.ahead.insert(partition)
            for (key, known) in affected.groups {
                state.overtake(.group(key))
                state.keep(known, of: key)
            }
            for (key, tokens) in affected.owners {
                state.overtake(.owner(key))
                state.keep(tokens, of: key)
            }
            for (key, membership) in affected.families {
                state.overtake(.client(key))
                state.keep(membership, of: key)
            }
            if isOnDisk { state.didFlush(of: partition) }
        }
        makeRoom()
    }

    /// Forgets everything that the disk has as well; it is read again on demand.
    package func forget() { forget { _ in true } }

    /// ``forget()`` for one person: the disk may lack changes of others that memory has.
    package func forget(_ partition: Partition) { forget { $0 == partition } }

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

    /// Notes that the disk has everything that memory has of a person.
    func didFlush(of partition: Partition) {
        state.withLock { $0.didFlush(of: partition) }
        makeRoom()
    }

    /// Called after a while without requests: evicts the least recently used entries of the largest partition first; they are read
    /// again on demand. Entries that a burst brought in are scattered, and each keeps a page in use (docs/decisions/0005).
    package func trim() { makeRoom(to: idle) }

    /// Evicts in small steps, because requests use the index meanwhile; the evicted entries are released outside the lock.
    private func makeRoom(to limits: CacheLimits? = nil) {
        var isDone = false
        while !isDone {
            // Each step examines all owners. An idle broker has time, but a new request must not wait.
            let gone = state.withLock { $0.makeRoom(to: limits, steps: limits == nil ? 16 : 1) }
            isDone = gone.isEmpty
        }
    }
}

extension CacheIndex.State {
    mutating func keep(_ known: KnownAccounts, of key: GroupKey) {
        guard has(something: !known.isEmpty, of: .group(key)) else { return _ = groups.remove(key) }
        groups.keep(known, for: key, of: key, weight: known.weight)
    }

    mutating func keep(_ tokens: CachedTokens, of key: OwnerKey) {
        guard has(something: !tokens.isEmpty, of: .owner(key)) else { return _ = owners.remove(key) }
        owners.keep(tokens, for: key, of: key.group, weight: tokens.weight)
    }

    mutating func keep(_ membership: FamilyMembership, of key: ClientKey) {
        guard has(something: membership != .unknown, of: .client(key)) else { return _ = families.remove(key) }
        families.keep(membership, for: key, of: key.groupKey)
    }

    /// Records whether a key has records.
    ///
    /// - Returns: whether its entry is to be kept.
    private mutating func has(something: Bool, of key: CacheIndex.AnyKey) -> Bool {
        if something { emptied.remove(key) } else if hasUnflushedChanges { emptied.insert(key) }
        _ = absent.remove(key)
        return something || hasUnflushedChanges
    }

    mutating func isAbsent(_ key: CacheIndex.AnyKey) -> Bool { absent.use(key) != nil }

    mutating func note(absent key: CacheIndex.AnyKey, of group: GroupKey) {
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

    /// Marks a read of this key in progress as outdated.
    mutating func overtake(_ key: CacheIndex.AnyKey) {
        for (number, read) in reads where read.key == key { reads[number]?.isOvertaken = true }
    }

    private var isOverLimit: Bool {
        groups.isOverLimit || owners.isOverLimit || families.isOverLimit || absent.isOverLimit
    }

    /// Whether there is no room, and none can be made.
    var isFull: Bool { hasUnflushedChanges && isOverLimit }

    /// Evicts entries beyond the limits.
    ///
    /// - Parameters:
    ///   - limits: the limits to keep; `nil` for the usual ones.
    ///   - steps: the number of entries of each kind to evict at most.
    /// - Returns: the evicted entries.
    mutating func makeRoom(to limits: CacheLimits?, steps: Int) -> [any Sendable] {
        guard !hasUnflushedChanges else { return [] }
        return groups.makeRoom(to: limits?.accounts, steps: steps) + owners.makeRoom(to: limits?.tokens, steps: steps)
            + families.makeRoom(to: limits?.clients, steps: steps) + absent.makeRoom(to: limits?.absent, steps: steps)
    }
}

extension CacheChange {
    /// Deletes all records of an owner as they are now: for the write queue.
    package mutating func deleteTokens(
        of owner: OwnerKey, in index: CacheIndex
    ) throws(VaultError) {
        add(try index.loadTokens(of: owner).deletion(from: owner.owner))
    }
}

extension AppMetadataRecord {
    package init(of key: ClientKey) {
        self.init(group: key.group, clientID: key.clientID, environment: key.environment, familyID: nil)
    }
}

extension SealedRecord {
    /// Approximate bytes in memory, with decrypted fields and overhead.
    package var weight: Int { box.count + 1_024 }
}

extension FairCache {
    /// ``use(_:)`` for the hot path: the compiler specialises it in this module, whereas generic code of another module looks up
    /// its types at each call.
    fileprivate mutating func useHere(_ key: Key) -> Value? {
        guard let number = placeOf[key] else { return nil }
        touch(number)
        return valuesAt[number]
    }
}
