import CSodium

/// The bytes of one secret, filled once and read-only from then on: small ones in pages that they share, larger ones in an
/// allocation of libsodium's guarded heap each.
///
/// `@unchecked Sendable`: the pointer is private, the memory is written only before `init` returns, and it is freed only by
/// `deinit`, when nobody can hold it any more.
final class GuardedMemory: @unchecked Sendable {
    private enum Home {
        case shared(GuardedPool.Place)
        case own
        /// The system gives no guarded pages any more. Nobody who makes it so is to end the process of everybody.
        case heap
    }

    let count: Int
    private let base: UnsafeMutableRawPointer
    private let home: Home

    init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.count = count
        if let place = GuardedPool.shared.take(count) {
            (base, home) = (place.base, .shared(place))
            fill(UnsafeMutableRawBufferPointer(start: base, count: count))
            GuardedPool.shared.seal(place)
        } else if count > GuardedPool.largest, sodium_init() >= 0, let own = sodium_malloc(count) {
            (base, home) = (own, .own)
            fill(UnsafeMutableRawBufferPointer(start: base, count: count))
            sodium_mprotect_readonly(base)
        } else {
            (base, home) = (.allocate(byteCount: max(count, 1), alignment: 16), .heap)
            fill(UnsafeMutableRawBufferPointer(start: base, count: count))
            UnguardedSecrets.add()
        }
    }

    convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    deinit {
        switch home {
        case .shared(let place): GuardedPool.shared.giveBack(place)
        case .own: sodium_free(base)
        case .heap:
            sodium_memzero(base, count)
            base.deallocate()
        }
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }
}
