import CSodium

/// The bytes of one secret, filled once: in pages that they share, or, for large ones, in an allocation of libsodium's guarded
/// heap each.
///
/// `@unchecked Sendable`: the pointer is private, the memory is written only before `init` returns, and it is freed only by
/// `deinit`, when nobody can hold it any more.
final class GuardedMemory: @unchecked Sendable {
    private enum Home {
        case shared(GuardedPool.Place, GuardedPool)
        case own
        /// The system gives no guarded pages any more. Nobody who makes it so is to end the process of everybody.
        case heap
    }

    let count: Int
    let isKept: Bool
    private let base: UnsafeMutableRawPointer
    private let home: Home

    init(count: Int, isKept: Bool, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        (self.count, self.isKept) = (count, isKept)
        let pool = isKept ? GuardedPool.kept : .passing
        if let place = pool.take(count) {
            (base, home) = (place.base, .shared(place, pool))
            fill(UnsafeMutableRawBufferPointer(start: base, count: count))
            pool.seal(place)
        } else if count > pool.largest, sodium_init() >= 0, let own = sodium_malloc(count) {
            (base, home) = (own, .own)
            fill(UnsafeMutableRawBufferPointer(start: base, count: count))
            sodium_mprotect_readonly(base)
        } else {
            (base, home) = (.allocate(byteCount: max(count, 1), alignment: 16), .heap)
            fill(UnsafeMutableRawBufferPointer(start: base, count: count))
            UnguardedSecrets.add()
        }
    }

    deinit {
        switch home {
        case .shared(let place, let pool): pool.release(place)
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
