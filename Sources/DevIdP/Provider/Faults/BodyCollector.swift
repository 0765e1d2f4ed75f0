import Hummingbird
import NIOCore
import Synchronization

/// Collects a response's body, so that a fault can be made from it.
final class BodyCollector: ResponseBodyWriter {
    private let collected = Mutex(ByteBuffer())

    var buffer: ByteBuffer { collected.withLock { $0 } }

    func write(_ buffer: ByteBuffer) async throws {
        collected.withLock { _ = $0.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
