import CSodium

/// One allocation of libsodium's guarded heap, filled once and read-only from then on.
///
/// `@unchecked Sendable`: the pointer is private, the memory is written only before `init` returns (and made read-only
/// by `mprotect`), and it is freed only by `deinit`, when nobody can hold it any more.
final class GuardedMemory: @unchecked Sendable {
    let count: Int
    private let base: UnsafeMutableRawPointer

    init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        guard sodium_init() >= 0, let base = sodium_malloc(max(count, 1)) else {
            fatalError("no memory for a secret of \(count) bytes")
        }
        fill(UnsafeMutableRawBufferPointer(start: base, count: count))
        sodium_mprotect_readonly(base)
        self.count = count
        self.base = base
    }

    convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    deinit { sodium_free(base) }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }
}
