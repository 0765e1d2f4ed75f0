/// A dictionary of many entries that can be changed while others read a copy of it: a change copies one part, not all.
struct ShardedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var shards: [[Key: Value]] = Array(repeating: [:], count: 64)
    private(set) var count = 0

    subscript(key: Key) -> Value? {
        get { shards[place(of: key)][key] }
        set {
            let place = place(of: key)
            count -= shards[place].count
            shards[place][key] = newValue
            count += shards[place].count
        }
    }

    var values: some Sequence<Value> { shards.lazy.flatMap(\.values) }

    private func place(of key: Key) -> Int { key.hashValue & (shards.count - 1) }
}
