import BrokerSystem
import CBrokerLinux
import Dispatch
import Synchronization

/// A descriptor that a peer sent; closed with this object, unless somebody took it.
package final class ReceivedDescriptor: Sendable {
    private let descriptor: Atomic<Int32>

    init(owning descriptor: Int32) {
        self.descriptor = Atomic(descriptor)
    }

    deinit {
        let left = take()
        if left >= 0 { Self.close([left]) }
    }

    /// Descriptors that are being closed: of all peers, for none can be hurried.
    private static let closing = Atomic<Int>(0)
    private static let mostClosing = 256

    static var areTooMany: Bool { closing.load(ordering: .relaxed) > mostClosing }

    /// Closing can take as long as whoever sent it likes: it is done on a thread of its own.
    static func close(_ descriptors: [Int32]) {
        closing.add(descriptors.count, ordering: .relaxed)
        let work: @Sendable () -> Void = {
            for descriptor in descriptors { broker_close_sent(descriptor) }
            closing.subtract(descriptors.count, ordering: .relaxed)
        }
        if DetachedThread.start(work) != 0 { DispatchQueue.global().async(execute: work) }
    }

    /// - Returns: the descriptor, the caller's own from now on; -1 when it was taken before.
    func take() -> Int32 { descriptor.exchange(-1, ordering: .relaxed) }

    /// To look at, while it is nobody else's.
    var number: Int32 { descriptor.load(ordering: .relaxed) }
}
