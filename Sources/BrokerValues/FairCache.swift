/// A memory with a limit in which nobody takes another's place: when it is full, whoever has the most in it loses what was
/// not used for longest.
///
/// Looking up, keeping and forgetting cost the same however much is in it. Making room looks at the owners, not at what
/// they have.
package struct FairCache<Owner: Hashable & Sendable, Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What the weights may come to.
    package let limit: Int

    private var order = FairOrder()
    /// The number of the place that a key has.
    package private(set) var placeOf: [Key: Int] = [:]
    private var shareOf: [Owner: Int] = [:]
    /// By the number of the place, and of the share.
    private var keysAt: [Int: Key] = [:]
    package private(set) var valuesAt: [Value?] = []
    private var ownersAt: [Int: Owner] = [:]

    package init(limit: Int) { self.limit = limit }

    package var weight: Int { order.weight }
    package var count: Int { placeOf.count }
    package var keys: some Sequence<Key> { placeOf.keys }
    package var isOverLimit: Bool { weight > limit }

    /// What is kept under a key. It counts as used.
    package mutating func use(_ key: Key) -> Value? {
        guard let number = placeOf[key] else { return nil }
        touch(number)
        return valuesAt[number]
    }

    /// What is kept at a place counts as used.
    package mutating func touch(_ number: Int) { order.touch(number) }

    /// As ``use(_:)``, but nobody has used it.
    package func peek(_ key: Key) -> Value? { placeOf[key].flatMap { valuesAt[$0] } }

    /// Keeps a value. ``makeRoom(steps:)`` is for afterwards: what is heavier than all that others have may itself have to go.
    ///
    /// - Parameter weight: at least 1.
    /// - Returns: what was kept under the key before.
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

    /// Changes what is kept under a key, where it is. It counts as used.
    package mutating func change<Result>(
        _ key: Key, weighing weigh: (Value) -> Int, _ change: (inout Value) -> Result
    ) -> Result? {
        guard let number = placeOf[key] else { return nil }
        order.touch(number)
        guard let result = changeValue(at: number, change) else { return nil }
        if let value = valuesAt[number] { order.weigh(number, max(weigh(value), 1)) }
        return result
    }

    /// Changes everything that is kept, without making it heavier or lighter.
    package mutating func changeAll(_ change: (inout Value) -> Void) {
        for number in placeOf.values { _ = changeValue(at: number, change) }
    }

    /// Taken out for the time, so that no copy is made.
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

    /// - Parameters:
    ///   - most: what the weights may come to now; ``limit`` if left out.
    ///   - steps: after so many it is left as it is, for another time.
    /// - Returns: what went, so that whoever holds a lock can let it go outside of it.
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
