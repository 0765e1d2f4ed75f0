import BrokerModel
import Synchronization

/// The open connections of all listeners that share their limits. Lives on the reactor's thread; only the count may be read from elsewhere.
final class LineTable {
    /// Shared with those who only want to know the number.
    final class Count: Sendable {
        fileprivate let number = Atomic(0)
        var value: Int { number.load(ordering: .relaxed) }
    }

    let count = Count()
    private let limits: LineLimits
    private var channels: [UInt64: LineChannel] = [:]
    private var owners: [Holder: Int] = [:]
    private var users: [Partition: Int] = [:]
    /// Bytes that wait in memory, by connection.
    private var held: [UInt64: Int] = [:]
    private var heldInAll = 0
    private var lingering = 0
    private var nextID: UInt64 = 0
    private var waiting: [(listener: UInt64, told: () -> Void)] = []

    init(limits: LineLimits) {
        self.limits = limits
    }

    func all(of listener: UInt64) -> [LineChannel] {
        channels.filter { $0.value.listener == listener }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// For a connection or a listener.
    func makeID() -> UInt64 {
        nextID += 1
        return nextID
    }

    /// Finds a place for one more connection of the owner; where there is none, a connection that has long been quiet gives
    /// way: one of the owner's own where it has its share, otherwise one of whoever has the most.
    ///
    /// - Returns: the limit that stands against it; nil when there is a place.
    func makeRoom(for owner: ConnectionOwner) -> LineRefusal? {
        let own = owners[owner.holder, default: 0]
        let share = share(of: owner)
        if own >= share {
            guard closeQuietest(where: { $0.holder == owner.holder }) else {
                return .tooManyConnections(limit: share, of: share < limits.connections ? .program : .everybody)
            }
            return nil
        }
        if let most = limits.userConnections, users[owner.partition, default: 0] >= most {
            guard closeQuietest(where: { $0.partition == owner.partition }) else {
                return .tooManyConnections(limit: most, of: .user)
            }
            return nil
        }
        let usesReserve = owner.mayUseReserve && own < limits.few
        let places = limits.connections + (usesReserve ? limits.reserve : 0)
        guard channels.count >= places else { return nil }
        let most = owners.values.max() ?? 0
        guard closeQuietest(where: { owners[$0.holder] == most }) || closeQuietest(where: { _ in true }) else {
            return .tooManyConnections(limit: limits.connections, of: .everybody)
        }
        return nil
    }

    private func share(of owner: ConnectionOwner) -> Int {
        switch owner.claimant {
        case .process: limits.connections
        case .sandbox, .unidentified: min(limits.sandboxConnections, limits.connections)
        }
    }

    /// - Returns: whether there was one that could go.
    private func closeQuietest(where isMeant: (ConnectionOwner) -> Bool) -> Bool {
        let now = SuspendingClock.now
        let quiet = channels.values.filter { channel in
            channel.owner.map(isMeant) ?? false && channel.isQuiet(for: limits.quiet, at: now)
        }
        guard let oldest = quiet.min(by: { $0.lastActive < $1.lastActive }) else { return false }
        oldest.giveWay()
        return true
    }

    func add(_ channel: LineChannel, id: UInt64) {
        channels[id] = channel
        if let owner = channel.owner { keepPlace(of: owner) }
        count.number.store(channels.count, ordering: .relaxed)
    }

    /// Counts a connection, open or being closed, against its owner's limits.
    func keepPlace(of owner: ConnectionOwner) {
        owners[owner.holder, default: 0] += 1
        users[owner.partition, default: 0] += 1
    }

    func leavePlace(of owner: ConnectionOwner) {
        owners.giveBack(owner.holder)
        users.giveBack(owner.partition)
    }

    /// The system has no room for another connection: a quiet one of whoever has the most gives way.
    func makeRoom() {
        let most = owners.values.max() ?? 0
        _ = closeQuietest { owners[$0.holder] == most } || closeQuietest { _ in true }
    }

    /// - Parameter bytes: what waits in memory because of the connection from now on. Where all have too much, whoever has the
    ///   most is cut off; that may be this one.
    func hold(_ bytes: Int, by id: UInt64) {
        guard channels[id] != nil else { return }
        heldInAll += bytes - (held.updateValue(bytes, forKey: id) ?? 0)
        while heldInAll > limits.held, let greediest = greediest() { greediest.giveBackMemory() }
    }

    /// Of the user who has the most in memory, and of their owner who has, the connection with the most.
    private func greediest() -> LineChannel? {
        let ofUser = held.largestGroup { channels[$0]?.owner?.partition }
        let ofOwner = ofUser.largestGroup { channels[$0]?.owner?.holder }
        return ofOwner.max { $0.value < $1.value }.flatMap { channels[$0.key] }
    }

    func remove(_ id: UInt64) {
        heldInAll -= held.removeValue(forKey: id) ?? 0
        if let owner = channels[id]?.owner { leavePlace(of: owner) }
        channels[id] = nil
        count.number.store(channels.count, ordering: .relaxed)
        let all = waiting
        waiting = []
        for wait in all { whenEmpty(wait.listener, wait.told) }
    }

    /// - Parameter told: called when the listener has no connection.
    func whenEmpty(_ listener: UInt64, _ told: @escaping () -> Void) {
        if channels.values.contains(where: { $0.listener == listener }) {
            waiting.append((listener, told))
        } else {
            told()
        }
    }

    /// - Returns: whether the refused peer may linger.
    func beginLingering() -> Bool {
        guard lingering < limits.lingering else { return false }
        lingering += 1
        return true
    }

    func endLingering() {
        lingering -= 1
    }
}

/// A claimant of one user: sandboxes of two may have the same name.
private struct Holder: Hashable {
    let partition: Partition
    let claimant: Claimant
}

extension ConnectionOwner {
    fileprivate var holder: Holder { Holder(partition: partition, claimant: claimant) }
}

extension Dictionary where Value == Int {
    /// The entries whose values come to the most together.
    fileprivate func largestGroup<Group: Hashable>(_ group: (Key) -> Group) -> [Key: Int] {
        let groups = Dictionary<Group, [Key: Int]>(
            map { (group($0.key), [$0.key: $0.value]) }, uniquingKeysWith: { $0.merging($1) { first, _ in first } })
        return groups.values.max { $0.values.reduce(0, +) < $1.values.reduce(0, +) } ?? [:]
    }

    fileprivate mutating func giveBack(_ key: Key) {
        let left = self[key, default: 1] - 1
        self[key] = left > 0 ? left : nil
    }
}
