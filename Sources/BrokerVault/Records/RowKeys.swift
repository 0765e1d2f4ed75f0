import BrokerModel

/// Keyed hashes that rows are filed under: without the key nobody can tell, nor try out, whom a row belongs to.
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

    /// Of what is no row.
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
