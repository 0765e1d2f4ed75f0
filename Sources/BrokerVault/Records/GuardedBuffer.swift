import CSodium

/// Guarded working memory: locked, fenced by unmapped pages, and wiped when it is released.
///
/// `@unchecked Sendable`: `base` and `count` never change, and the bytes have one owner at a time: the caller that took the
/// buffer out of its pool (``ScratchPool``), or the holder of the lock that guards it (``DecryptedTokenCache``).
final class GuardedBuffer: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let count: Int

    /// - Returns: nil if the system has no more of it.
    init?(count: Int) {
        guard let base = sodium_malloc(count) else { return nil }
        self.base = base
        self.count = count
    }

    deinit { sodium_free(base) }
}
