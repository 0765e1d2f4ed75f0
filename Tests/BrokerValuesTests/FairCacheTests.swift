import BrokerValues
import Testing

@Suite("A fair cache")
struct FairCacheTests {
    private typealias Cache = FairCache<String, String, Int>

    private static func keep(_ value: Int, _ key: String, _ owner: String, _ cache: inout Cache, weight: Int = 1) {
        cache.keep(value, for: key, of: owner, weight: weight)
        cache.makeRoom()
    }

    @Test("the least recently used value is dropped")
    func recency() {
        var cache = Cache(limit: 3)
        for (key, value) in [("a", 1), ("b", 2), ("c", 3)] { Self.keep(value, key, "app", &cache) }
        #expect(cache.use("a") == 1)
        Self.keep(4, "d", "app", &cache)
        #expect(cache.peek("b") == nil)
        #expect(cache.peek("a") == 1)
        #expect(cache.count == 3)
    }

    @Test("an owner who fills the cache loses only their own values")
    func fairness() {
        var cache = Cache(limit: 100)
        for number in 0..<10 { Self.keep(number, "mine-\(number)", "me", &cache) }
        for number in 0..<10_000 { Self.keep(number, "theirs-\(number)", "greedy", &cache) }
        for number in 0..<10 { #expect(cache.peek("mine-\(number)") == number) }
        #expect(cache.count == 100)
        #expect(cache.peek("theirs-9999") == 9999)
    }

    @Test("among many owners with equal shares the oldest value is dropped")
    func manyOwners() {
        var cache = Cache(limit: 10)
        for number in 0..<50 {
            Self.keep(number, "key-\(number)", "owner-\(number)", &cache)
            _ = cache.use("key-0")
        }
        #expect(cache.peek("key-0") == 0)
        #expect(cache.peek("key-49") == 49)
        #expect(cache.peek("key-1") == nil)
        #expect(cache.count == 10)
    }

    @Test("a value heavier than all others is not kept")
    func tooHeavy() {
        var cache = Cache(limit: 100)
        Self.keep(1, "small", "me", &cache, weight: 10)
        Self.keep(2, "huge", "greedy", &cache, weight: 1_000)
        #expect(cache.peek("huge") == nil)
        #expect(cache.peek("small") == 1)
        #expect(cache.weight == 10)
    }

    @Test("values stay over the limit until makeRoom() is called")
    func mustStay() {
        var cache = Cache(limit: 2)
        for number in 0..<10 { cache.keep(number, for: "\(number)", of: "app") }
        #expect(cache.count == 10)
        cache.makeRoom(steps: 3)
        #expect(cache.count == 7)
        cache.makeRoom()
        #expect(cache.count == 2)
        #expect(cache.peek("9") == 9)
    }

    @Test("any sequence of operations keeps the weights right and the limit", arguments: 1...8)
    func generated(seed: UInt64) {
        var state = seed
        func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        var cache = Cache(limit: 60)
        var weights: [String: Int] = [:]
        for _ in 0..<3_000 {
            let key = "\(below(40))"
            switch below(4) {
            case 0: cache.remove(key)
            case 1: _ = cache.use(key)
            default:
                weights[key] = 1 + below(9)
                Self.keep(below(1_000), key, "owner-\(below(5))", &cache, weight: weights[key] ?? 1)
            }
            #expect(cache.weight <= 60)
            #expect(cache.weight == cache.keys.reduce(0) { $0 + (weights[$1] ?? 0) })
        }
        cache.removeAll { _, _ in true }
        #expect(cache.weight == 0 && cache.count == 0)
    }
}
