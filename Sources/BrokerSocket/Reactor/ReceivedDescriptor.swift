import BrokerSystem
import CBrokerLinux
import Dispatch
import Synchronization

/// A descriptor that a peer sent; closed with this object, unless somebody took it.
package final class ReceivedDescriptor: Sendable {
    /// The user who sent it.
    let sender: UInt32
    private let descriptor: Atomic<Int32>

    init(owning descriptor: Int32, from sender: UInt32) {
        self.sender = sender
        self.descriptor = Atomic(descriptor)
    }

    deinit {
        let left = take()
        if left >= 0 { Self.close([left], from: sender) }
    }

    private static let closing = Mutex(ClosingDescriptors())
    /// Looked at with each read, and nearly always 0.
    private static let count = Atomic<Int>(0)

    /// Whether so many of a user's are being closed that no more are taken from them.
    static func areTooMany(from sender: UInt32) -> Bool {
        count.load(ordering: .relaxed) > 0 && closing.withLock { $0.areTooMany(from: sender) }
    }

    /// Closing can take as long as whoever sent it likes: it is done on a thread of its own.
    static func close(_ descriptors: [Int32], from sender: UInt32) {
        closing.withLock { $0.begin(descriptors.count, from: sender) }
        count.add(descriptors.count, ordering: .relaxed)
        let work: @Sendable () -> Void = {
            for descriptor in descriptors { broker_close_sent(descriptor) }
            count.subtract(descriptors.count, ordering: .relaxed)
            closing.withLock { $0.end(descriptors.count, from: sender) }
        }
        if DetachedThread.start(work) != 0 { DispatchQueue.global().async(execute: work) }
    }

    /// - Returns: the descriptor, the caller's own from now on; -1 when it was taken before.
    func take() -> Int32 { descriptor.exchange(-1, ordering: .relaxed) }

    /// To look at, while it is nobody else's.
    var number: Int32 { descriptor.load(ordering: .relaxed) }
}

/// How many descriptors are being closed, by the user who sent them. None of them can be hurried, and none be left open: so
/// the only bound is that more are refused.
package struct ClosingDescriptors {
    /// A user has at most as many as are left free for others: half of them, where there is one user. Each can take a thread, and
    /// nobody sends more than two at a time for a good reason.
    package static let places = 128
    private var counts: [UInt32: Int] = [:]
    private var all = 0

    package init() {}

    package mutating func begin(_ count: Int, from sender: UInt32) {
        counts[sender, default: 0] += count
        all += count
    }

    package mutating func end(_ count: Int, from sender: UInt32) {
        let rest = counts[sender, default: 0] - count
        counts[sender] = rest > 0 ? rest : nil
        all -= count
    }

    /// Never, while none of theirs is being closed: nobody has to wait for what others sent.
    package func areTooMany(from sender: UInt32) -> Bool {
        let own = counts[sender, default: 0]
        return own > 0 && own + all >= Self.places
    }
}
