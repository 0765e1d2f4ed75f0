import BrokerModel
import CSodium
import Synchronization

/// The access tokens and ID tokens that were opened last: repeated requests do not open a box again.
///
/// They are in guarded memory, as are the keys that open them, for seconds only (``forget()``). Refresh tokens are never cached.
final class DecryptedTokenCache: Sendable {
    /// Larger ones are opened each time.
    fileprivate static let largest = 4 << 10
    fileprivate static let places = 32

    fileprivate struct Place {
        /// It never changes: another record has another secret. Retained, so that no other object can take its identity.
        let sealed: SealedRecord
        let keyChanges: UInt64
        let count: Int
        var wasUsed = false
    }

    fileprivate struct State {
        /// Kept while it is in use: allocating it takes longer than opening a box.
        var memory: GuardedBuffer?
        var places: [Place?] = Array(repeating: nil, count: DecryptedTokenCache.places)
        var numbers: [ObjectIdentifier: Int] = [:]
        /// The clock hand: the search for a free place continues here.
        var clockHand = 0
    }

    private let state = Mutex(State())

    static func mayHold(_ kind: RecordKind) -> Bool { kind == .accessToken || kind == .idToken }

    /// Passes a recently opened secret to `body`.
    ///
    /// - Parameters:
    ///   - keyChanges: the current value of ``KeyRing/changes``: secrets that other keys opened are not used.
    ///   - body: must not access another secret.
    /// - Returns: whether the cache has the secret.
    func withToken(_ sealed: SealedRecord, _ keyChanges: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        state.withLock { state in
            guard let number = state.numbers[ObjectIdentifier(sealed)], let place = state.places[number],
                place.keyChanges == keyChanges, let memory = state.memory
            else { return false }
            state.places[number]?.wasUsed = true
            body(UnsafeRawBufferPointer(start: memory.base + number * Self.largest, count: place.count))
            return true
        }
    }

    /// - Parameter keyChanges: the value from before the keys were obtained.
    func keep(_ secret: UnsafeRawBufferPointer, of sealed: SealedRecord, _ keyChanges: UInt64) {
        guard !secret.isEmpty, secret.count <= Self.largest else { return }
        state.withLock { state in
            guard let memory = state.memory ?? GuardedBuffer(count: Self.places * Self.largest) else { return }
            state.memory = memory
            let number = state.numbers[ObjectIdentifier(sealed)] ?? state.evictionIndex()
            state.empty(number)
            state.places[number] = Place(sealed: sealed, keyChanges: keyChanges, count: secret.count)
            state.numbers[ObjectIdentifier(sealed)] = number
            UnsafeMutableRawBufferPointer(start: memory.base + number * Self.largest, count: secret.count)
                .copyMemory(from: secret)
        }
    }

    /// Wipes all secrets.
    func wipe() { state.withLock { $0.emptyAll() } }

    /// As ``wipe()``. If the cache was empty, its memory is released as well.
    func forget() {
        // Released outside the lock: that takes a system call.
        _ = state.withLock { state -> GuardedBuffer? in
            guard state.numbers.isEmpty else {
                state.emptyAll()
                return nil
            }
            defer { state.memory = nil }
            return state.memory
        }
    }
}

extension DecryptedTokenCache.State {
    /// A place that has not been used since the hand last passed it.
    fileprivate mutating func evictionIndex() -> Int {
        while true {
            let number = clockHand
            clockHand = (clockHand + 1) % places.count
            guard places[number]?.wasUsed == true else { return number }
            places[number]?.wasUsed = false
        }
    }

    fileprivate mutating func emptyAll() {
        for number in numbers.values { empty(number) }
    }

    fileprivate mutating func empty(_ number: Int) {
        guard let place = places[number], let memory else { return }
        sodium_memzero(memory.base + number * DecryptedTokenCache.largest, place.count)
        numbers[ObjectIdentifier(place.sealed)] = nil
        places[number] = nil
    }
}
