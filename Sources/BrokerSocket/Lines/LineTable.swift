import NIOCore
import Synchronization

/// The open connections of one listener. Lives on the event loop; only the count may be read from elsewhere.
final class LineTable {
    /// Shared with those who only want to know the number.
    final class Count: Sendable {
        let value = Atomic(0)
    }

    let count = Count()
    private let limits: LineLimits
    private var channels: [UInt64: LineChannel] = [:]
    private var lingering = 0
    private var nextID: UInt64 = 0
    private var whenEmpty: [EventLoopPromise<Void>] = []

    init(limits: LineLimits) {
        self.limits = limits
    }

    var isFull: Bool { channels.count >= limits.connections }
    var all: [LineChannel] { channels.sorted { $0.key < $1.key }.map(\.value) }

    func makeID() -> UInt64 {
        nextID += 1
        return nextID
    }

    func add(_ channel: LineChannel, id: UInt64) {
        channels[id] = channel
        count.value.store(channels.count, ordering: .relaxed)
    }

    func remove(_ id: UInt64) {
        channels[id] = nil
        count.value.store(channels.count, ordering: .relaxed)
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
