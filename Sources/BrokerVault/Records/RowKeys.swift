import BrokerModel

/// Keyed hashes that name rows: without the key nobody can find out or guess to whom a row belongs.
struct RowKeys: Sendable {
    private let partition: Partition
    private let keys: PartitionKeys

    init(of partition: Partition, keys: PartitionKeys) {
        self.partition = partition
        self.keys = keys
    }

    func bucketKey(_ kind: RecordKind, bucket: [String]) -> [UInt8] {
        keyedHash(prefix(1, kind, bucket).bytes, key: keys.naming)
    }

    func rowKey(_ key: RecordKey) -> [UInt8] {
        var bytes = prefix(2, key.kind, key.bucket)
        bytes.append(key.item)
        return keyedHash(bytes.bytes, key: keys.naming)
    }

    /// A name for something that is not a row.
    func name(of parts: [String]) -> [UInt8] {
        var bytes = CanonicalBytes(reserving: 256)
        let purpose: UInt8 = 3
        bytes.append(purpose)
        bytes.append(partition.uid)
        bytes.append(parts)
        return keyedHash(bytes.bytes, key: keys.naming)
    }

    private func prefix(_ purpose: UInt8, _ kind: RecordKind, _ bucket: [String]) -> CanonicalBytes {
        var bytes = CanonicalBytes(reserving: 256)
        bytes.append(purpose)
        bytes.append(partition.uid)
        bytes.append(kind.rawValue)
        bytes.append(bucket)
        return bytes
    }
}
