/// Owners of places, their weights, and their order of use: the bookkeeping of a ``FairCache``, for places and owners that are
/// named by numbers.
///
/// It knows neither keys nor values, so it is compiled once, without type look-ups at each use.
struct FairOrder: Sendable {
    private struct Place {
        let owner: Int
        var weight: Int
        var lastUse: UInt64 = 0
        /// Links to the owner's other places, in the order of their last use.
        var older: Int?
        var newer: Int?
    }

    /// The share of one owner.
    private struct Share {
        var weight = 0
        var oldest: Int?
        var newest: Int?
    }

    private(set) var weight = 0
    private var places = NumberedSlots<Place>()
    private var shares = NumberedSlots<Share>()
    private var uses: UInt64 = 0

    mutating func addOwner() -> Int { shares.add(Share()) }

    /// - Returns: the place's number. It is the most recently used one.
    mutating func add(of owner: Int, weight: Int) -> Int {
        let number = places.add(Place(owner: owner, weight: weight))
        shares[owner]?.weight += weight
        self.weight += weight
        link(number)
        return number
    }

    /// - Returns: the owner, if that was its last place: its number is free then.
    mutating func remove(_ number: Int) -> Int? {
        unlink(number)
        guard let place = places.remove(number) else { return nil }
        weight -= place.weight
        shares[place.owner]?.weight -= place.weight
        guard let share = shares[place.owner], share.oldest == nil else { return nil }
        shares.remove(place.owner)
        return place.owner
    }

    mutating func weigh(_ number: Int, _ weight: Int) {
        guard let place = places[number] else { return }
        let more = weight - place.weight
        places[number]?.weight = weight
        shares[place.owner]?.weight += more
        self.weight += more
    }

    mutating func touch(_ number: Int) {
        // Nothing else was used since.
        guard places[number]?.lastUse != uses else { return }
        unlink(number)
        link(number)
    }

    /// The oldest place of the owner with the largest share; among equal shares, the oldest place.
    ///
    /// - Parameter owners: all owners of places.
    func evictionCandidate(among owners: some Sequence<Int>) -> Int? {
        var chosen: (weight: Int, lastUse: UInt64, place: Int)?
        for owner in owners {
            guard let share = shares[owner], let oldest = share.oldest, let place = places[oldest] else { continue }
            if let best = chosen, (share.weight, best.lastUse) <= (best.weight, place.lastUse) { continue }
            chosen = (share.weight, place.lastUse, oldest)
        }
        return chosen?.place
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
        guard let place = places[number] else { return }
        if let older = place.older {
            places[older]?.newer = place.newer
        } else {
            shares[place.owner]?.oldest = place.newer
        }
        if let newer = place.newer {
            places[newer]?.older = place.older
        } else {
            shares[place.owner]?.newest = place.older
        }
    }
}

/// Values with numbers, which are reused when a value is removed. The values are trivial types: reading one copies it.
struct NumberedSlots<Value: BitwiseCopyable & Sendable>: Sendable {
    private var slots: [Value?] = []
    private var free: [Int] = []

    subscript(number: Int) -> Value? {
        get { slots[number] }
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
