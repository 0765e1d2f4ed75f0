/// A memory with a limit in which nobody takes another's place: when it is full, whoever has the most in it loses what was
/// not used for longest.
///
/// Looking up, keeping and forgetting cost the same however much is in it. Making room looks at the owners, not at what
/// they have.
package struct FairCache<Owner: Hashable & Sendable, Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What the weights may come to.
    package let limit: Int
    package private(set) var weight = 0

    private struct Place {
        let key: Key
        var value: Value
        let owner: Int
        var weight: Int
        var lastUse: UInt64
        /// Its owner's places, by their last use.
        var older: Int?
        var newer: Int?

        mutating func change<Result>(_ change: (inout Value) -> Result) -> Result { change(&value) }
    }

    /// What one owner has.
    private struct Share {
        let owner: Owner
        var weight = 0
        var oldest: Int?
        var newest: Int?
    }

    private var places = NumberedSlots<Place>()
    private var shares = NumberedSlots<Share>()
    private var placeOf: [Key: Int] = [:]
    private var shareOf: [Owner: Int] = [:]
    private var uses: UInt64 = 0

    package init(limit: Int) { self.limit = limit }

    package var count: Int { placeOf.count }
    package var keys: some Sequence<Key> { placeOf.keys }
    package var isOverLimit: Bool { weight > limit }

    /// What is kept under a key. It counts as used.
    package mutating func use(_ key: Key) -> Value? {
        guard let number = placeOf[key] else { return nil }
        touch(number)
        return places[number]?.value
    }

    /// As ``use(_:)``, but nobody has used it.
    package func peek(_ key: Key) -> Value? { placeOf[key].flatMap { places[$0]?.value } }

    /// Keeps a value. ``makeRoom(steps:)`` is for afterwards: what is heavier than all that others have may itself have to go.
    ///
    /// - Parameter weight: at least 1.
    /// - Returns: what was kept under the key before.
    @discardableResult
    package mutating func keep(_ value: Value, for key: Key, of owner: Owner, weight: Int = 1) -> Value? {
        let before = remove(key)
        let weight = max(weight, 1)
        let share = shareOf[owner] ?? shares.add(Share(owner: owner))
        shareOf[owner] = share
        let number = places.add(
            Place(key: key, value: value, owner: share, weight: weight, lastUse: 0, older: nil, newer: nil))
        placeOf[key] = number
        shares[share]?.weight += weight
        self.weight += weight
        link(number)
        return before
    }

    /// Changes what is kept under a key, where it is. It counts as used.
    package mutating func change<Result>(
        _ key: Key, weighing weigh: (Value) -> Int, _ change: (inout Value) -> Result
    ) -> Result? {
        guard let number = placeOf[key] else { return nil }
        touch(number)
        let result = places[number]?.change(change)
        if let place = places[number] {
            let more = max(weigh(place.value), 1) - place.weight
            places[number]?.weight += more
            shares[place.owner]?.weight += more
            weight += more
        }
        return result
    }

    /// Changes everything that is kept, without making it heavier or lighter.
    package mutating func changeAll(_ change: (inout Value) -> Void) {
        for number in placeOf.values { places[number]?.change(change) }
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let number = placeOf.removeValue(forKey: key) else { return nil }
        unlink(number)
        guard let place = places.remove(number) else { return nil }
        weight -= place.weight
        shares[place.owner]?.weight -= place.weight
        if let share = shares[place.owner], share.oldest == nil {
            shareOf[share.owner] = nil
            shares.remove(place.owner)
        }
        return place.value
    }

    /// - Parameter steps: after so many it is left as it is, for another time.
    /// - Returns: what went, so that whoever holds a lock can let it go outside of it.
    @discardableResult
    package mutating func makeRoom(steps: Int = .max) -> [Value] {
        var gone: [Value] = []
        while isOverLimit, gone.count < steps, let key = mostDispensable, let value = remove(key) { gone.append(value) }
        return gone
    }

    package mutating func removeAll(where isMeant: (Key, Value) -> Bool) {
        for (key, number) in placeOf {
            if let place = places[number], isMeant(key, place.value) { remove(key) }
        }
    }

    /// The oldest of the owner with the most; of several owners' the oldest of all.
    private var mostDispensable: Key? {
        var chosen: (weight: Int, lastUse: UInt64, key: Key)?
        for number in shareOf.values {
            guard let share = shares[number], let oldest = share.oldest, let place = places[oldest] else { continue }
            if let best = chosen, (share.weight, best.lastUse) <= (best.weight, place.lastUse) { continue }
            chosen = (share.weight, place.lastUse, place.key)
        }
        return chosen?.key
    }

    // MARK: By use

    private mutating func touch(_ number: Int) {
        // Nothing was used since.
        guard places[number]?.lastUse != uses else { return }
        unlink(number)
        link(number)
    }

    private mutating func link(_ number: Int) {
        guard let owner = places[number]?.owner else { return }
        uses += 1
        let newest = shares[owner]?.newest
        places[number]?.lastUse = uses
        places[number]?.older = newest
        places[number]?.newer = nil
        if let newest { places[newest]?.newer = number } else { shares[owner]?.oldest = number }
        shares[owner]?.newest = number
    }

    private mutating func unlink(_ number: Int) {
        guard let owner = places[number]?.owner else { return }
        let (older, newer) = (places[number]?.older, places[number]?.newer)
        if let older { places[older]?.newer = newer } else { shares[owner]?.oldest = newer }
        if let newer { places[newer]?.older = older } else { shares[owner]?.newest = older }
    }
}

/// Values that are called by a number, which is given out again when its value is gone.
private struct NumberedSlots<Value: Sendable>: Sendable {
    private var slots: [Value?] = []
    private var free: [Int] = []

    subscript(number: Int) -> Value? {
        // Lent, not copied: a look at one member of a place must not retain all of them.
        _read { yield slots[number] }
        _modify { yield &slots[number] }
    }

    mutating func add(_ value: Value) -> Int {
        if let number = free.popLast() {
            slots[number] = value
            return number
        }
        slots.append(value)
        return slots.count - 1
    }

    @discardableResult
    mutating func remove(_ number: Int) -> Value? {
        free.append(number)
        let value = slots[number]
        slots[number] = nil
        return value
    }
}
