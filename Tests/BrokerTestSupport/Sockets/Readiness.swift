import Dispatch
import Synchronization

/// Waits for a descriptor without holding a thread, so that a test can have hundreds of sockets.
enum Readiness {
    enum Direction { case reading, writing }

    private static let queue = DispatchQueue(label: "test sockets")

    /// - Returns: false when the time passed first.
    static func wait(_ descriptor: Int32, for direction: Direction, seconds: Double) async -> Bool {
        let source: any DispatchSourceProtocol =
            switch direction {
            case .reading: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            case .writing: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
            }
        let isReady = Atomic(false)
        let wake = Wake(source)
        let timeout = DispatchWorkItem { wake.cancel() }
        return await withCheckedContinuation { continuation in
            source.setEventHandler {
                isReady.store(true, ordering: .relaxed)
                wake.cancel()
            }
            // Only when the cancellation is through may somebody else use or close the descriptor.
            source.setCancelHandler {
                timeout.cancel()
                continuation.resume(returning: isReady.load(ordering: .relaxed))
            }
            queue.asyncAfter(deadline: .now() + seconds, execute: timeout)
            source.activate()
        }
    }

    /// `@unchecked`: a dispatch source may be cancelled from any thread.
    private struct Wake: @unchecked Sendable {
        private let source: any DispatchSourceProtocol

        init(_ source: any DispatchSourceProtocol) { self.source = source }

        func cancel() { source.cancel() }
    }
}
