import BrokerModel

/// A choice of record rows.
package enum RowSelection: Sendable {
    case id(Int64)
    case bucket([UInt8])
    case page(ManifestPlace)
    case kind(RecordKind, Partition)
    /// The next ones after an id, in the order of their ids.
    case next(RecordKind, Partition, after: Int64, atMost: Int)
    /// The same of all rows.
    case any(after: Int64, atMost: Int)
}

package struct RowCount: Sendable, Equatable {
    /// The number of the kind or partition that was counted. Possibly none that a broker knows.
    package var number: Int64
    package var rows: Int
    package var bytes: Int

    package init(number: Int64, rows: Int, bytes: Int) {
        self.number = number
        self.rows = rows
        self.bytes = bytes
    }
}

/// A row of the store; any of its columns may have been tampered with.
package struct StoredRow: Sendable, Equatable {
    package var id: Int64
    package var partition: Int64
    package var kind: Int64
    package var rowKey: [UInt8]
    package var bucketKey: [UInt8]
    package var box: [UInt8]

    package init(id: Int64, partition: Int64, kind: Int64, rowKey: [UInt8], bucketKey: [UInt8], box: [UInt8]) {
        self.id = id
        self.partition = partition
        self.kind = kind
        self.rowKey = rowKey
        self.bucketKey = bucketKey
        self.box = box
    }
}
