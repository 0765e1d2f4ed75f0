/// A dictionary of many entries that can be changed while others read a copy of it: a change copies one shard, not all.
struct ShardedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The number of entries that share one shard: a copy of so few is quick.
    private static var few: Int { 64 }

    private var shards: [[Key: Value]] = [[:]]
    private(set) var count = 0

    subscript(key: Key) -> Value? {
        get { shards[place(of: key)][key] }
        set {
            let place = place(of: key)
            count -= shards[place].count
            shards[place][key] = newValue
            count += shards[place].count
            if count > Self.few, shards.count == 1 { spread() }
        }
    }

    var values: [Value] { shards.flatMap { Array($0.values) } }

    /// Calls the body for each value, in the order of ``values``, for as long as it returns true.
    func forEach(while body: (Value) -> Bool) {
        for shard in shards {
            for value in shard.values { guard body(value) else { return } }
        }
    }

    private mutating func spread() {
        let all = shards[0]
        shards = Array(repeating: [:], count: 64)
        for (key, value) in all { shards[place(of: key)][key] = value }
    }

    private func place(of key: Key) -> Int { shards.count == 1 ? 0 : key.hashValue & (shards.count - 1) }
}
