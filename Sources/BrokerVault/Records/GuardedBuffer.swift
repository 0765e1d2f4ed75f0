import CSodium

/// Guarded memory to work in: locked, fenced by unmapped pages, and wiped when it is given up.
///
/// `@unchecked Sendable`: `base` and `count` never change, and the bytes are one's at a time: of who took the buffer out of its pool
/// (``ScratchPool``), or holds the lock that it is kept under (``DecryptedTokenCache``).
final class GuardedBuffer: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let count: Int

    /// - Returns: nil when the system gives no more of it.
    init?(count: Int) {
        guard let base = sodium_malloc(count) else { return nil }
        self.base = base
        self.count = count
    }

    deinit { sodium_free(base) }
}
