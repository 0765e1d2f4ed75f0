/// A cache with a limit that is shared fairly: when it is full, the owner with the largest share loses its least recently used
/// value.
///
/// Looking up, keeping and removing take constant time. Making room depends on the number of owners, not on the size of their
/// shares.
package struct FairCache<Owner: Hashable & Sendable, Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The limit of the total weight.
    package let limit: Int

    private var order = FairOrder()
    /// The place number of a key.
    package private(set) var placeOf: [Key: Int] = [:]
    private var shareOf: [Owner: Int] = [:]
    /// The keys and the values by the number of their place, and the owners by the number of their share.
    private var keysAt: [Int: Key] = [:]
    package private(set) var valuesAt: [Value?] = []
    private var ownersAt: [Int: Owner] = [:]

    package init(limit: Int) { self.limit = limit }

    package var weight: Int { order.weight }
    package var count: Int { placeOf.count }
    package var keys: some Sequence<Key> { placeOf.keys }
    package var isOverLimit: Bool { weight > limit }

    /// Returns the value of a key. It counts as used.
    package mutating func use(_ key: Key) -> Value? {
        guard let number = placeOf[key] else { return nil }
        touch(number)
        return valuesAt[number]
    }

    /// Counts the value at a place as used.
    package mutating func touch(_ number: Int) { order.touch(number) }

    /// The value of a key. It does not count as used.
    package func peek(_ key: Key) -> Value? { placeOf[key].flatMap { valuesAt[$0] } }

    /// Stores a value. Call ``makeRoom(steps:)`` afterwards: a value that is heavier than all others may itself be evicted.
    ///
    /// - Parameter weight: at least 1.
    /// - Returns: the previous value of the key.
    @discardableResult
    package mutating func keep(_ value: Value, for key: Key, of owner: Owner, weight: Int = 1) -> Value? {
        let before = remove(key)
        let share = shareOf[owner] ?? order.addOwner()
        shareOf[owner] = share
        ownersAt[share] = owner
        let number = order.add(of: share, weight: max(weight, 1))
        placeOf[key] = number
        keysAt[number] = key
        if number == valuesAt.count { valuesAt.append(value) } else { valuesAt[number] = value }
        return before
    }

    /// Changes the value of a key in place. It counts as used.
    package mutating func change<Result>(
        _ key: Key, weighing weigh: (Value) -> Int, _ change: (inout Value) -> Result
    ) -> Result? {
        guard let number = placeOf[key] else { return nil }
        order.touch(number)
        guard let result = changeValue(at: number, change) else { return nil }
        if let value = valuesAt[number] { order.weigh(number, max(weigh(value), 1)) }
        return result
    }

    /// Changes all values, without changing their weights.
    package mutating func changeAll(_ change: (inout Value) -> Void) {
        for number in placeOf.values { _ = changeValue(at: number, change) }
    }

    /// Changes the value at a place. It is taken out meanwhile, so that no copy is made.
    private mutating func changeValue<Result>(at number: Int, _ change: (inout Value) -> Result) -> Result? {
        guard var value = valuesAt[number] else { return nil }
        valuesAt[number] = nil
        defer { valuesAt[number] = value }
        return change(&value)
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let number = placeOf.removeValue(forKey: key) else { return nil }
        if let share = order.remove(number), let owner = ownersAt.removeValue(forKey: share) { shareOf[owner] = nil }
        keysAt[number] = nil
        defer { valuesAt[number] = nil }
        return valuesAt[number]
    }

    /// Evicts values until the total weight is within the limit.
    ///
    /// - Parameters:
    ///   - most: the limit of the total weight; ``limit`` if omitted.
    ///   - steps: after this number, the rest is left for a later call.
    /// - Returns: the evicted values, so that the holder of a lock can release them outside it.
    @discardableResult
    package mutating func makeRoom(to most: Int? = nil, steps: Int = .max) -> [Value] {
        let most = most ?? limit
        var gone: [Value] = []
        while weight > most, gone.count < steps, let number = order.evictionCandidate(among: shareOf.values),
            let key = keysAt[number], let value = remove(key)
        {
            gone.append(value)
        }
        return gone
    }

    package mutating func removeAll(where matches: (Key, Value) -> Bool) {
        for (key, number) in placeOf {
            if let value = valuesAt[number], matches(key, value) { remove(key) }
        }
    }
}
