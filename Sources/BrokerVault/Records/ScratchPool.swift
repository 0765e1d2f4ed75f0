import BrokerModel
import CSodium
import Synchronization

/// Guarded memory that records are opened in.
///
/// Getting such memory costs several system calls, far more than opening a record; so a few buffers are kept. Each is
/// wiped before it is given back.
final class ScratchPool: Sendable {
    /// `@unchecked Sendable`: whoever took a buffer out of the pool is the only one who has it.
    private final class Buffer: @unchecked Sendable {
        static let count = 16 * 1024
        let base: UnsafeMutableRawPointer
        let count: Int

        init?(count: Int) {
            guard let base = sodium_malloc(count) else { return nil }
            self.base = base
            self.count = count
        }

        deinit { sodium_free(base) }
    }

    private static let keptCount = 4
    private let free = Mutex<[Buffer]>([])

    /// Lends `count` bytes and wipes them afterwards.
    func withBytes<Result>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let kept = count <= Buffer.count ? free.withLock { $0.popLast() } : nil
        guard let buffer = kept ?? Buffer(count: max(count, Buffer.count)) else {
            throw .io("No memory for a record of \(count) bytes. Try again when other programs have given some back.")
        }
        defer {
            sodium_memzero(buffer.base, count)
            if buffer.count == Buffer.count {
                free.withLock { if $0.count < Self.keptCount { $0.append(buffer) } }
            }
        }
        return try body(UnsafeMutableRawBufferPointer(start: buffer.base, count: count))
    }
}
