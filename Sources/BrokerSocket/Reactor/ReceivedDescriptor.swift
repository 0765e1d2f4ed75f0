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

    /// Closing can take as long as whoever sent it likes.
    private static let closing = DispatchQueue(label: "descriptors that peers sent")

    static func close(_ descriptors: [Int32]) {
        closing.async {
            for descriptor in descriptors { broker_close_sent(descriptor) }
        }
    }

    /// - Returns: the descriptor, the caller's own from now on; -1 when it was taken before.
    func take() -> Int32 { descriptor.exchange(-1, ordering: .relaxed) }

    /// To look at, while it is nobody else's.
    var number: Int32 { descriptor.load(ordering: .relaxed) }
}
