import BrokerModel
import CSodium
import Synchronization

/// The access tokens and ID tokens that were opened last: an app that asks again at once is answered without opening a box anew.
///
/// They lie in guarded memory, as the keys do that open them, for seconds only (``forget()``). Refresh tokens are never among them.
final class DecryptedTokenCache: Sendable {
    /// Larger ones are opened each time.
    fileprivate static let largest = 4 << 10
    fileprivate static let places = 32

    fileprivate struct Place {
        /// It never changes: another record has another secret. Held, so that no other can take its identity.
        let sealed: SealedRecord
        let keyChanges: UInt64
        let count: Int
        var wasUsed = false
    }

    fileprivate struct State {
        /// Kept while it is in use: the system takes longer to give it than a box takes to open.
        var memory: GuardedBuffer?
        var places: [Place?] = Array(repeating: nil, count: DecryptedTokenCache.places)
        var numbers: [ObjectIdentifier: Int] = [:]
        /// Where a place is looked for next.
        var hand = 0
    }

    private let state = Mutex(State())

    static func mayHold(_ kind: RecordKind) -> Bool { kind == .accessToken || kind == .idToken }

    /// Lends a secret that was opened lately.
    ///
    /// - Parameters:
    ///   - keyChanges: as it is now (``KeyRing/changes``): what other keys opened is not lent.
    ///   - body: must not ask for another secret.
    /// - Returns: whether there was one.
    func lend(_ sealed: SealedRecord, _ keyChanges: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        state.withLock { state in
            guard let number = state.numbers[ObjectIdentifier(sealed)], let place = state.places[number],
                place.keyChanges == keyChanges, let memory = state.memory
            else { return false }
            state.places[number]?.wasUsed = true
            body(UnsafeRawBufferPointer(start: memory.base + number * Self.largest, count: place.count))
            return true
        }
    }

    /// - Parameter keyChanges: from before the keys were had that opened it.
    func keep(_ secret: UnsafeRawBufferPointer, of sealed: SealedRecord, _ keyChanges: UInt64) {
        guard !secret.isEmpty, secret.count <= Self.largest else { return }
        state.withLock { state in
            guard let memory = state.memory ?? GuardedBuffer(count: Self.places * Self.largest) else { return }
            state.memory = memory
            let number = state.numbers[ObjectIdentifier(sealed)] ?? state.dispensable()
            state.empty(number)
            state.places[number] = Place(sealed: sealed, keyChanges: keyChanges, count: secret.count)
            state.numbers[ObjectIdentifier(sealed)] = number
            UnsafeMutableRawBufferPointer(start: memory.base + number * Self.largest, count: secret.count)
                .copyMemory(from: secret)
        }
    }

    /// Wipes them all.
    func wipe() { state.withLock { $0.emptyAll() } }

    /// As ``wipe()``. Where there were none, the memory for them is given back as well.
    func forget() {
        // Let go outside of the lock: that asks the system.
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
    /// A place that nobody has used since it was passed by.
    fileprivate mutating func dispensable() -> Int {
        while true {
            let number = hand
            hand = (hand + 1) % places.count
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
