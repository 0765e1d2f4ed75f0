import CSodium
import Glibc
import Synchronization

/// Guarded pages that small secrets share (docs/decisions/0061).
///
/// A process has a limited number of mappings, and a guarded allocation takes four: with one for each key, a few thousand
/// users would take all of them. Places of one size lie together in a slab, one allocation of libsodium's guarded heap.
final class GuardedPool: Sendable {
    /// For keys and client secrets: a slab can be written only while one of its places is filled or wiped.
    static let kept = GuardedPool(largest: 1_024, isSealed: true)
    /// For the tokens of a request. To have their pages read-only takes four calls of the kernel for each, and stops every other
    /// thread each time; that was a third of a refresh.
    static let passing = GuardedPool(largest: 4_096, isSealed: false)

    /// Bytes. Larger secrets are few at a time, and have pages of their own.
    let largest: Int
    private let isSealed: Bool

    private init(largest: Int, isSealed: Bool) { (self.largest, self.isSealed) = (largest, isSealed) }

    /// `@unchecked Sendable`: a place is one secret's, who fills it before anybody else knows it.
    struct Place: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        fileprivate let slab: Slab
    }

    /// `@unchecked Sendable`: it is looked at and changed under the pool's lock only.
    fileprivate final class Slab: @unchecked Sendable {
        private static let byteCount = 16 << 10

        let size: Int
        private let isSealed: Bool
        private let base: UnsafeMutableRawPointer
        private var free: [UnsafeMutableRawPointer]
        /// How many places are being filled.
        private var writers = 0

        init?(of size: Int, isSealed: Bool) {
            guard sodium_init() >= 0, let base = sodium_malloc(Self.byteCount) else { return nil }
            // libsodium goes on where the pages cannot be locked. Whoever runs the broker is to hear that they may be swapped.
            if mlock(base, Self.byteCount) != 0 { UnguardedSecrets.add() }
            (self.size, self.isSealed) = (size, isSealed)
            self.base = base
            free = stride(from: 0, to: Self.byteCount, by: size).map { base + $0 }
            if isSealed { sodium_mprotect_readonly(base) }
        }

        deinit { sodium_free(base) }

        var hasRoom: Bool { !free.isEmpty }
        var isEmpty: Bool { free.count == Self.byteCount / size }

        func take() -> UnsafeMutableRawPointer? {
            guard hasRoom, beginWriting() else { return nil }
            return free.removeLast()
        }

        func wipe(_ place: UnsafeMutableRawPointer) {
            // What cannot be wiped stays taken.
            guard beginWriting() else { return }
            sodium_memzero(place, size)
            endWriting()
            free.append(place)
        }

        private func beginWriting() -> Bool {
            guard isSealed else { return true }
            guard writers > 0 || sodium_mprotect_readwrite(base) == 0 else { return false }
            writers += 1
            return true
        }

        func endWriting() {
            guard isSealed else { return }
            writers -= 1
            if writers == 0 { sodium_mprotect_readonly(base) }
        }
    }

    /// Slabs that have room, by the size of their places.
    private let roomy = Mutex<[Int: [Slab]]>([:])

    /// A place that can be written until ``seal(_:)``.
    ///
    /// - Returns: nil for what is too large, and when there are no more pages.
    func take(_ count: Int) -> Place? {
        guard count <= largest else { return nil }
        let size = Self.size(for: count)
        return roomy.withLock { roomy in
            guard let slab = roomy[size]?.last ?? Slab(of: size, isSealed: isSealed), let base = slab.take() else {
                return nil
            }
            if roomy[size]?.last !== slab { roomy[size, default: []].append(slab) }
            if !slab.hasRoom { roomy[size]?.removeLast() }
            return Place(base: base, slab: slab)
        }
    }

    /// It is filled.
    func seal(_ place: Place) { if isSealed { roomy.withLock { _ in place.slab.endWriting() } } }

    /// Wipes it. Of slabs that are empty one is kept.
    func release(_ place: Place) {
        roomy.withLock { roomy in
            let slab = place.slab
            let hadRoom = slab.hasRoom
            slab.wipe(place.base)
            guard slab.hasRoom else { return }
            if !hadRoom { roomy[slab.size, default: []].append(slab) }
            if slab.isEmpty, let all = roomy[slab.size], all.count > 1 {
                roomy[slab.size] = all.filter { $0 !== slab }
            }
        }
    }

    /// 32 bytes, 64, and so on.
    private static func size(for count: Int) -> Int {
        var size = 32
        while size < count { size *= 2 }
        return size
    }
}
