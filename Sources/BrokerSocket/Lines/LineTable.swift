import BrokerModel
import NIOCore
import Synchronization

/// The open connections of one listener. Lives on the event loop; only the count may be read from elsewhere.
final class LineTable {
    /// Shared with those who only want to know the number.
    final class Count: Sendable {
        fileprivate let number = Atomic(0)
        var value: Int { number.load(ordering: .relaxed) }
    }

    let count = Count()
    private let limits: LineLimits
    private var channels: [UInt64: LineChannel] = [:]
    private var owners: [Claimant: Int] = [:]
    /// Bytes that wait in memory, by connection.
    private var held: [UInt64: Int] = [:]
    private var heldInAll = 0
    private var lingering = 0
    private var nextID: UInt64 = 0
    private var whenEmpty: [EventLoopPromise<Void>] = []

    init(limits: LineLimits) {
        self.limits = limits
    }

    var all: [LineChannel] { channels.sorted { $0.key < $1.key }.map(\.value) }

    func makeID() -> UInt64 {
        nextID += 1
        return nextID
    }

    /// Finds a place for one more connection of the owner; where there is none, a connection that has long been quiet gives
    /// way: one of the owner's own where it has its share, otherwise one of whoever has the most.
    ///
    /// - Returns: the limit that stands against it; nil when there is a place.
    func makeRoom(for owner: ConnectionOwner) -> LineRefusal? {
        let own = owners[owner.claimant, default: 0]
        let share = share(of: owner)
        if own >= share {
            guard closeQuietest(where: { $0 == owner.claimant }) else {
                return .tooManyConnections(limit: share, isOwn: share < limits.connections)
            }
            return nil
        }
        let usesReserve = owner.mayUseReserve && own < limits.few
        let places = limits.connections + (usesReserve ? limits.reserve : 0)
        guard channels.count >= places else { return nil }
        let most = owners.values.max() ?? 0
        guard closeQuietest(where: { owners[$0] == most }) || closeQuietest(where: { _ in true }) else {
            return .tooManyConnections(limit: limits.connections, isOwn: false)
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
    private func closeQuietest(where isMeant: (Claimant) -> Bool) -> Bool {
        let now = NIODeadline.now()
        let quiet = channels.values.filter { channel in
            channel.owner.map { isMeant($0.claimant) } ?? false && channel.isQuiet(for: limits.quiet, at: now)
        }
        guard let oldest = quiet.min(by: { $0.lastActive < $1.lastActive }) else { return false }
        oldest.giveWay()
        return true
    }

    func add(_ channel: LineChannel, id: UInt64) {
        channels[id] = channel
        if let owner = channel.owner { owners[owner.claimant, default: 0] += 1 }
        count.number.store(channels.count, ordering: .relaxed)
    }

    /// - Parameter bytes: what waits in memory because of the connection from now on. Where all have too much, whoever has the
    ///   most is cut off; that may be this one.
    func hold(_ bytes: Int, by id: UInt64) {
        guard channels[id] != nil else { return }
        heldInAll += bytes - (held.updateValue(bytes, forKey: id) ?? 0)
        while heldInAll > limits.held, let greediest = greediest() { greediest.giveBackMemory() }
    }

    /// Of the owner who has the most in memory the connection with the most.
    private func greediest() -> LineChannel? {
        func owner(_ id: UInt64) -> Claimant? { channels[id]?.owner?.claimant }
        let most = Dictionary(grouping: held, by: { owner($0.key) })
            .max { left, right in left.value.reduce(0) { $0 + $1.value } < right.value.reduce(0) { $0 + $1.value } }
        return most?.value.max { $0.value < $1.value }.flatMap { channels[$0.key] }
    }

    func remove(_ id: UInt64) {
        heldInAll -= held.removeValue(forKey: id) ?? 0
        if let owner = channels[id]?.owner {
            let left = owners[owner.claimant, default: 1] - 1
            owners[owner.claimant] = left > 0 ? left : nil
        }
        channels[id] = nil
        count.number.store(channels.count, ordering: .relaxed)
        guard channels.isEmpty else { return }
        let waiting = whenEmpty
        whenEmpty = []
        for promise in waiting { promise.succeed() }
    }

    func notifyWhenEmpty(_ promise: EventLoopPromise<Void>) {
        if channels.isEmpty { promise.succeed() } else { whenEmpty.append(promise) }
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
