import BrokerValues

/// The kind of a vault row. The number is part of the associated data and of the row's key: never reuse one.
package enum RecordKind: UInt8, Sendable, CaseIterable {
    case account = 1
    case accessToken = 2
    case refreshToken = 3
    case idToken = 4
    case appMetadata = 5
    case signOut = 6
    case app = 7
    case providerDocument = 8
    case proofKey = 9
    case grant = 10
    case auditBlock = 11
    case auditHead = 12
    case partitionOwner = 13

    package static let ofAuditLog: Set<RecordKind> = [.auditBlock, .auditHead]

    /// Whether such a record is a user's. The broker's log and providers' documents have no owner.
    package var isUserRecord: Bool { self != .providerDocument && !Self.ofAuditLog.contains(self) }
}

extension RecordKind {
    /// - Returns: nil for a number that no version of the broker assigned to a kind.
    package init?(storedAs number: Int64) {
        guard let number = UInt8(exactly: number) else { return nil }
        self.init(rawValue: number)
    }
}

/// One record of the cache without its secret. Its content is personal, so it is sealed together with the secret.
///
/// `bucket` names the few records that are looked up together; `item` distinguishes them. The vault files a record under a keyed
/// hash of kind, bucket and item, so both may hold names, scopes and client ids.
package protocol VaultRecord: Codable, Sendable {
    static var kind: RecordKind { get }
    var bucket: [String] { get }
    var item: [String] { get }
}

extension VaultRecord {
    package var key: RecordKey { RecordKey(kind: Self.kind, bucket: bucket, item: item) }
}

/// Names one record within a partition.
package struct RecordKey: Sendable, Hashable {
    package let kind: RecordKind
    package let bucket: [String]
    package let item: [String]

    package init(kind: RecordKind, bucket: [String], item: [String]) {
        self.kind = kind
        self.bucket = bucket
        self.item = item
    }

    /// Byte by byte, as the vault files records: a provider may distinguish texts that look alike.
    package static func == (left: RecordKey, right: RecordKey) -> Bool {
        left.kind == right.kind && left.bucket.elementsEqual(right.bucket) { $0.isExactly($1) }
            && left.item.elementsEqual(right.item) { $0.isExactly($1) }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for text in bucket + item { ExactText(text).hash(into: &hasher) }
    }
}

/// A record as stored on disk and in memory: encrypted, bound to its partition and key. It never changes; a class, so that
/// passing it on costs one reference.
package final class SealedRecord: Sendable {
    package let partition: Partition
    package let kind: RecordKind
    /// Keyed BLAKE2b of partition, kind, bucket and item.
    package let rowKey: [UInt8]
    /// Keyed BLAKE2b of partition, kind and bucket.
    package let bucketKey: [UInt8]
    /// Nonce and ciphertext.
    package let box: [UInt8]

    package init(partition: Partition, kind: RecordKind, rowKey: [UInt8], bucketKey: [UInt8], box: [UInt8]) {
        self.partition = partition
        self.kind = kind
        self.rowKey = rowKey
        self.bucketKey = bucketKey
        self.box = box
    }
}

/// A record read from the vault: its fields in the clear, its secret still sealed. It never changes, as ``SealedRecord``.
package final class StoredRecord<Record: VaultRecord>: Sendable {
    package let record: Record
    package let sealed: SealedRecord
    /// Its encoding for responses.
    package let written = LazyBytes()

    package init(record: Record, sealed: SealedRecord) {
        self.record = record
        self.sealed = sealed
    }
}
