import BrokerModel
import CSodium
import Synchronization

/// A pool of guarded memory in which records are opened.
///
/// Allocating such memory costs several system calls, far more than opening a record; so a few buffers are kept. Each is wiped
/// before it is returned.
final class ScratchPool: Sendable {
    private static let bufferCount = 16 * 1024
    private static let keptCount = 4
    private let free = Mutex<[GuardedBuffer]>([])

    /// Provides `count` bytes and wipes them afterwards.
    func withBytes<Result>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let kept = count <= Self.bufferCount ? free.withLock { $0.popLast() } : nil
        guard let buffer = kept ?? GuardedBuffer(count: max(count, Self.bufferCount)) else {
            throw .io("No memory for a record of \(count) bytes. Try again when other programs have given some back.")
        }
        defer {
            sodium_memzero(buffer.base, count)
            if buffer.count == Self.bufferCount {
                free.withLock { if $0.count < Self.keptCount { $0.append(buffer) } }
            }
        }
        return try body(UnsafeMutableRawBufferPointer(start: buffer.base, count: count))
    }
}
