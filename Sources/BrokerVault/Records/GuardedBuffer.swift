import CSodium

/// Guarded memory to work in: locked, fenced by unmapped pages, and wiped when it is given up.
///
/// `@unchecked Sendable`: whoever took a buffer out of where it is kept is the only one who has it.
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
