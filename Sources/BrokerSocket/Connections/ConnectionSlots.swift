import BrokerModel

/// The owners of slots, and evictions. It notifies no one: an evicted connection is returned, already without a slot.
struct ConnectionSlots {
    enum Entry {
        case entered
        case refused(ConnectionRefusal)
        /// Its listener has ended meanwhile.
        case late
    }

    private struct Place {
        let connection: any SlotHolder
        let owner: ConnectionOwner
        let listener: UInt64
        /// Bytes that wait in memory.
        var held = 0
    }

    private let limits: ConnectionLimits
    private var places: [UInt64: Place] = [:]
    private var owners: [OwnerKey: Int] = [:]
    private var users: [Partition: Int] = [:]
    /// Connections of unnamed callers, by user, and their bytes that wait in memory.
    private var unnamed: [Partition: Int] = [:]
    private var heldByUnnamed: [Partition: Int] = [:]
    private var heldInAll = 0
    private var listeners: Set<UInt64> = []
    private var waitingForEmpty: [(listener: UInt64, notify: @Sendable () -> Void)] = []

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    var count: Int { places.count }

    // MARK: Listeners

    mutating func begin(_ listener: UInt64) { listeners.insert(listener) }

    mutating func end(_ listener: UInt64) { listeners.remove(listener) }

    /// Oldest first.
    func all(of listener: UInt64) -> [any SlotHolder] {
        places.filter { $0.value.listener == listener }.sorted { $0.key < $1.key }.map(\.value.connection)
    }

    /// - Returns: whether the listener has no connection; otherwise `notify` is called later.
    mutating func whenEmpty(_ listener: UInt64, _ notify: @escaping @Sendable () -> Void) -> Bool {
        guard !isEmpty(listener) else { return true }
        waitingForEmpty.append((listener, notify))
        return false
    }

    /// The callbacks of listeners that have no connection any more.
    mutating func takeToldOfEmpty() -> [@Sendable () -> Void] {
        guard !waitingForEmpty.isEmpty else { return [] }
        let empty = waitingForEmpty.filter { isEmpty($0.listener) }
        waitingForEmpty.removeAll { wait in empty.contains { $0.listener == wait.listener } }
        return empty.map(\.notify)
    }

    private func isEmpty(_ listener: UInt64) -> Bool { !places.values.contains { $0.listener == listener } }

    // MARK: Places

    /// Without a free slot, a connection that has long been quiet is evicted: one of the owner's own if it has its share,
    /// otherwise one of the owner with the most.
    mutating func enter(
        _ connection: any SlotHolder, of owner: ConnectionOwner, from listener: UInt64
    ) -> (Entry, gone: (any SlotHolder)?) {
        guard listeners.contains(listener) else { return (.late, nil) }
        var gone: (any SlotHolder)?
        if let (refusal, others) = obstacle(to: owner) {
            gone = if let others { evict { others.contains($0) } } else { evictFromLargestHolder() }
            guard let gone else { return (.refused(refusal), nil) }
            remove(gone.id)
        }
        places[connection.id] = Place(connection: connection, owner: owner, listener: listener)
        keepPlace(of: owner)
        return (.entered, gone)
    }

    /// - Returns: the limit that prevents one more connection of the owner, and the group to evict from; `nil` for any.
    private func obstacle(to owner: ConnectionOwner) -> (ConnectionRefusal, of: Group?)? {
        let own = owners[owner.key, default: 0]
        let share = share(of: owner)
        if own >= share {
            let party = share < limits.connections ? ConnectionRefusal.Party.program : .everybody
            return (.tooManyConnections(limit: share, of: party), .owner(owner.key))
        }
        if owner.claimant.isUnnamed, unnamed[owner.partition, default: 0] >= limits.unnamedConnections {
            return (
                .tooManyConnections(limit: limits.unnamedConnections, of: .unnamed), .unnamed(owner.partition)
            )
        }
        if let most = limits.userConnections, users[owner.partition, default: 0] >= most {
            return (.tooManyConnections(limit: most, of: .user), .user(owner.partition))
        }
        let usesReserve = owner.mayUseReserve && own < limits.few
        guard places.count >= limits.connections + (usesReserve ? limits.reserve : 0) else { return nil }
        return (.tooManyConnections(limit: limits.connections, of: .everybody), nil)
    }

    private func share(of owner: ConnectionOwner) -> Int {
        switch owner.claimant {
        case .process, .program: limits.connections
        case .sandbox, .unnamedSandbox, .unidentified: min(limits.sandboxConnections, limits.connections)
        }
    }

    /// Evicts a quiet connection of the owner with the most.
    mutating func makeRoom() -> (any SlotHolder)? {
        let gone = evictFromLargestHolder()
        if let gone { remove(gone.id) }
        return gone
    }

    private func evictFromLargestHolder() -> (any SlotHolder)? {
        let most = owners.values.max() ?? 0
        return evict { owners[$0.key] == most } ?? evict { _ in true }
    }

    /// - Returns: the connection that has been quiet for longest; it is no longer served.
    private func evict(where matches: (ConnectionOwner) -> Bool) -> (any SlotHolder)? {
        let latest = MonotonicInstant.now - limits.quiet
        let quiet = places.values.compactMap { place -> (connection: any SlotHolder, since: MonotonicInstant)? in
            guard matches(place.owner), let since = place.connection.quietSince, since <= latest else { return nil }
            return (place.connection, since)
        }
        return quiet.min { $0.since < $1.since }?.connection
    }

    /// Does nothing when repeated.
    mutating func remove(_ id: UInt64) {
        guard let place = places.removeValue(forKey: id) else { return }
        count(-place.held, of: place.owner)
        leavePlace(of: place.owner)
    }

    mutating func keepPlace(of owner: ConnectionOwner) {
        owners[owner.key, default: 0] += 1
        users[owner.partition, default: 0] += 1
        if owner.claimant.isUnnamed { unnamed[owner.partition, default: 0] += 1 }
    }

    mutating func leavePlace(of owner: ConnectionOwner) {
        owners.release(owner.key)
        users.release(owner.partition)
        if owner.claimant.isUnnamed { unnamed.release(owner.partition) }
    }

    // MARK: Memory

    /// - Returns: the connections to cut off, so that the total stays within the limit.
    mutating func hold(_ bytes: Int, by id: UInt64) -> [any SlotHolder] {
        guard let place = places[id] else { return [] }
        places[id]?.held = bytes
        count(bytes - place.held, of: place.owner)
        var gone: [any SlotHolder] = []
        func cutOff(_ greediest: any SlotHolder) {
            remove(greediest.id)
            gone.append(greediest)
        }
        let user = Group.unnamed(place.owner.partition)
        while heldByUnnamed[place.owner.partition, default: 0] > limits.heldByUnnamed,
            let greediest = greediest(among: user.contains)
        {
            cutOff(greediest)
        }
        while heldInAll > limits.held, let greediest = greediest(among: { _ in true }) { cutOff(greediest) }
        return gone
    }

    private mutating func count(_ bytes: Int, of owner: ConnectionOwner) {
        heldInAll += bytes
        guard owner.claimant.isUnnamed else { return }
        let held = heldByUnnamed[owner.partition, default: 0] + bytes
        heldByUnnamed[owner.partition] = held > 0 ? held : nil
    }

    /// The connection with the most bytes, of the owner with the most, of the user with the most in memory.
    private func greediest(among matches: (ConnectionOwner) -> Bool) -> (any SlotHolder)? {
        let holding = places.values.filter { $0.held > 0 && matches($0.owner) }
        let ofUser = Self.largestGroup(of: holding) { $0.owner.partition }
        let ofOwner = Self.largestGroup(of: ofUser) { $0.owner.key }
        return ofOwner.max { $0.held < $1.held }?.connection
    }

    /// The group that holds the most together.
    private static func largestGroup<Key: Hashable>(of places: [Place], by key: (Place) -> Key) -> [Place] {
        func sum(_ group: [Place]) -> Int { group.reduce(0) { $0 + $1.held } }
        return Dictionary(grouping: places, by: key).values.max { sum($0) < sum($1) } ?? []
    }
}

/// A group of connections.
private enum Group {
    case owner(OwnerKey)
    case user(Partition)
    case unnamed(Partition)

    func contains(_ owner: ConnectionOwner) -> Bool {
        switch self {
        case .owner(let key): owner.key == key
        case .user(let partition): owner.partition == partition
        case .unnamed(let partition): owner.partition == partition && owner.claimant.isUnnamed
        }
    }
}

/// A claimant of one user: sandboxes of two may have the same name.
private struct OwnerKey: Hashable {
    let partition: Partition
    let claimant: QuotaOwner
}

extension ConnectionOwner {
    fileprivate var key: OwnerKey { OwnerKey(partition: partition, claimant: claimant) }
}

extension Dictionary where Value == Int {
    fileprivate mutating func release(_ key: Key) {
        let left = self[key, default: 1] - 1
        self[key] = left > 0 ? left : nil
    }
}
