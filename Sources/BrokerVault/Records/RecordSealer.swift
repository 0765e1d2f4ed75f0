import BrokerModel

/// Seals records one by one and opens them.
///
/// A box holds the length of the fields, the length of the secret (32 bits each, little-endian), the fields as JSON, the secret,
/// and zeros up to a multiple of ``step``, so that lengths reveal little. The associated data are the format version and all
/// columns except the box: a row that was edited, cut, or copied to another place does not open.
struct RecordSealer: Sendable {
    private static let step = 256
    private static let headCount = 8
    /// Far above any record; prevents an oversized response of a provider from filling the disk.
    private static let maximumCount = 8 << 20

    /// The vault's format.
    private let format: Int
    private let scratch = ScratchPool()

    init(format: Int = VaultFormat.current) { self.format = format }

    func seal(
        fields: [UInt8], secret: Secret?, kind: RecordKind, rowKey: [UInt8], bucketKey: [UInt8],
        in partition: Partition, keys: PartitionKeys
    ) throws(VaultError) -> SealedRecord {
        let secretCount = secret?.count ?? 0
        let used = Self.headCount + fields.count + secretCount
        guard used <= Self.maximumCount else {
            throw .io("A record of \(used) bytes is larger than the vault takes (\(Self.maximumCount) bytes).")
        }
        let padded = (used + Self.step - 1) / Self.step * Self.step
        let context = context(partition.uid, kind.rawValue, rowKey, bucketKey)
        let box = try scratch.withBytes(padded) { plaintext in
            plaintext.storeBytes(of: UInt32(fields.count).littleEndian, toByteOffset: 0, as: UInt32.self)
            plaintext.storeBytes(of: UInt32(secretCount).littleEndian, toByteOffset: 4, as: UInt32.self)
            Self.slice(plaintext, Self.headCount, fields.count).copyBytes(from: fields)
            secret?.withBytes { Self.slice(plaintext, Self.headCount + fields.count, secretCount).copyMemory(from: $0) }
            // The buffer may be fresh, and fresh guarded memory is not zeroed.
            _ = Self.slice(plaintext, used, padded - used).initializeMemory(as: UInt8.self, repeating: 0)
            return AEAD.seal(UnsafeRawBufferPointer(plaintext), under: keys.sealing, binding: context)
        }
        return SealedRecord(partition: partition, kind: kind, rowKey: rowKey, bucketKey: bucketKey, box: box)
    }

    /// Opens a row in guarded memory and passes its parts to `body`.
    ///
    /// - Throws: ``VaultError/recordDamaged`` if the row was not sealed for this place.
    func open<Result>(
        _ row: StoredRow, keys: PartitionKeys,
        _ body: (_ fields: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        guard let uid = UInt32(exactly: row.partition), let kind = UInt8(exactly: row.kind) else {
            throw .recordDamaged
        }
        return try open(row.box, context: context(uid, kind, row.rowKey, row.bucketKey), keys, body)
    }

    func open<Result>(
        _ sealed: SealedRecord, keys: PartitionKeys,
        _ body: (_ fields: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        let context = context(sealed.partition.uid, sealed.kind.rawValue, sealed.rowKey, sealed.bucketKey)
        return try open(sealed.box, context: context, keys, body)
    }

    /// The same record under the current key; nil if it is already, or is not genuine.
    func resealed(_ record: SealedRecord, keys: PartitionKeys) throws(VaultError) -> SealedRecord? {
        let context = context(record.partition.uid, record.kind.rawValue, record.rowKey, record.bucketKey)
        let count = record.box.count - AEAD.overhead
        guard count >= Self.headCount, count <= Self.maximumCount + Self.step else { return nil }
        let box: [UInt8]? = try scratch.withBytes(count) { plaintext in
            guard !AEAD.open(record.box, under: keys.sealing, binding: context, into: plaintext),
                keys.former.contains(where: { AEAD.open(record.box, under: $0, binding: context, into: plaintext) })
            else { return nil }
            return AEAD.seal(UnsafeRawBufferPointer(plaintext), under: keys.sealing, binding: context)
        }
        return box.map {
            SealedRecord(
                partition: record.partition, kind: record.kind, rowKey: record.rowKey, bucketKey: record.bucketKey,
                box: $0)
        }
    }

    private func open<Result>(
        _ box: [UInt8], context: [UInt8], _ keys: PartitionKeys,
        _ body: (_ fields: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        let count = box.count - AEAD.overhead
        guard count >= Self.headCount, count <= Self.maximumCount + Self.step else { throw .recordDamaged }
        return try scratch.withBytes(count) { (plaintext) throws(VaultError) in
            let isOpen =
                AEAD.open(box, under: keys.sealing, binding: context, into: plaintext)
                || keys.former.contains { AEAD.open(box, under: $0, binding: context, into: plaintext) }
            guard isOpen else { throw .recordDamaged }
            let fieldCount = Int(UInt32(littleEndian: plaintext.loadUnaligned(fromByteOffset: 0, as: UInt32.self)))
            let secretCount = Int(UInt32(littleEndian: plaintext.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            guard Self.headCount + fieldCount + secretCount <= count else { throw .recordDamaged }
            return body(
                UnsafeRawBufferPointer(Self.slice(plaintext, Self.headCount, fieldCount)),
                UnsafeRawBufferPointer(Self.slice(plaintext, Self.headCount + fieldCount, secretCount)))
        }
    }

    private func context(_ uid: UInt32, _ kind: UInt8, _ rowKey: [UInt8], _ bucketKey: [UInt8]) -> [UInt8] {
        var bytes = CanonicalBytes(reserving: 96)
        bytes.append(UInt32(format))
        bytes.append(uid)
        bytes.append(kind)
        bytes.append(rowKey)
        bytes.append(bucketKey)
        return bytes.bytes
    }

    private static func slice(
        _ buffer: UnsafeMutableRawBufferPointer, _ start: Int, _ count: Int
    ) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + count])
    }
}
