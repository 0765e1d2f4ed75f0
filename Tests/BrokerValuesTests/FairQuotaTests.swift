import BrokerValues
import Testing

@Suite("A fair quota")
struct FairQuotaTests {
    private typealias Places = FairQuota<Int, String>

    /// Returns how many of the requests get a place.
    private static func take(_ count: Int, for part: String, of owner: Int, in places: inout Places) -> Int {
        var taken = 0
        for _ in 0..<count where places.take(for: part, of: owner) { taken += 1 }
        return taken
    }

    @Test("a greedy part leaves room for its owner's other parts, and more for other owners")
    func fairness() {
        var places = Places(limit: 1_000)
        #expect(Self.take(10_000, for: "greedy", of: 1, in: &places) == 100)
        #expect(Self.take(10_000, for: "neighbour", of: 1, in: &places) == 80)
        #expect(Self.take(10_000, for: "stranger", of: 2, in: &places) > 80)
    }

    @Test("an owner of many parts gets no more than half, and the last part gets one place")
    func manyParts() {
        var places = Places(limit: 100)
        var own = 0
        for part in 0..<1_000 { own += Self.take(5, for: "\(part)", of: 1, in: &places) }
        #expect(own == 50 && places.count == 50)
        #expect(Self.take(1, for: "one", of: 2, in: &places) == 1)
    }

    @Test("a part gets no more than its own limit, and another part as many again")
    func limitOfPart() {
        var places = Places(limit: 1_000, ofPart: 16)
        #expect(Self.take(100, for: "one", of: 1, in: &places) == 16)
        #expect(Self.take(100, for: "two", of: 1, in: &places) == 16)
    }

    @Test("a returned place can be taken again, and returning an untaken place changes nothing")
    func leaving() {
        var places = Places(limit: 100)
        let taken = Self.take(100, for: "app", of: 1, in: &places)
        for _ in 0..<taken { places.leave(for: "app", of: 1) }
        places.leave(for: "app", of: 1)
        places.leave(for: "nobody", of: 9)
        #expect(places.count == 0)
        #expect(Self.take(100, for: "app", of: 1, in: &places) == taken)
    }
}
