/// Limits the number of places that cannot be evicted: if there is no room, a request is refused, and an owner with many places
/// is refused earlier than one with few.
///
/// Places are taken by a part of an owner, such as an app of a user. An owner gets no more than it leaves free for others, and a
/// part no more than an eighth of the remaining places; but at least one place, as long as its owner may have one.
package struct FairQuota<Owner: Hashable & Sendable, Part: Hashable & Sendable>: Sendable {
    package let limit: Int
    /// The limit of one part, however many places are free.
    private let limitOfPart: Int
    package private(set) var count = 0
    private var owners: [Owner: Share] = [:]

    private struct Share {
        var count = 0
        var parts: [Part: Int] = [:]
    }

    package init(limit: Int, ofPart limitOfPart: Int = .max) { (self.limit, self.limitOfPart) = (limit, limitOfPart) }

    /// Takes a place.
    ///
    /// - Returns: false if the request has to be refused.
    package mutating func take(for part: Part, of owner: Owner) -> Bool {
        let share = owners[owner] ?? Share()
        let (room, taken) = (limit - count - share.count, share.parts[part, default: 0])
        guard taken < limitOfPart, room > 8 * taken else { return false }
        count += 1
        owners[owner, default: Share()].count += 1
        owners[owner]?.parts[part, default: 0] += 1
        return true
    }

    /// Returns a place.
    package mutating func leave(for part: Part, of owner: Owner) {
        guard let taken = owners[owner]?.parts[part] else { return }
        count -= 1
        owners[owner]?.count -= 1
        owners[owner]?.parts[part] = taken > 1 ? taken - 1 : nil
        if owners[owner]?.count == 0 { owners[owner] = nil }
    }
}
