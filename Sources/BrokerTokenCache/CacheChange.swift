import BrokerModel
import BrokerValues

/// Records that are written and removed together. The disk and memory both apply this one list (docs/decisions/0015).
package struct CacheChange: Sendable {
    /// The change of one record.
    package enum Action<Record: VaultRecord>: Sendable {
        /// Replaces the record with the same key.
        case put(StoredRecord<Record>)
        /// Deletes the record in any state: it is found by its key.
        case delete(StoredRecord<Record>)
    }

    /// One record and its change. Every kind that is in memory has a case.
    package enum Row: Sendable {
        case account(Action<AccountRecord>)
        case signOut(Action<SignOutRecord>)
        case appMetadata(Action<AppMetadataRecord>)
        case accessToken(Action<AccessTokenRecord>)
        case refreshToken(Action<RefreshTokenRecord>)
        case idToken(Action<IDTokenRecord>)
        case proofKey(Action<ProofKeyRecord>)
    }

    package let partition: Partition
    /// The changes, one for each record, in the order in which the records were first added.
    package private(set) var rows: [Row] = []
    private var places: [RecordKey: Int] = [:]

    package init(in partition: Partition, _ rows: [Row] = []) {
        self.partition = partition
        add(rows)
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// Whether it contains a change of the record.
    package func settles(_ record: some VaultRecord) -> Bool { places[record.key] != nil }

    /// Adds a change. It replaces an earlier change of the same record.
    package mutating func add(_ row: Row) {
        let key = row.onDisk.key
        if let place = places[key] {
            rows[place] = row
        } else {
            places[key] = rows.count
            rows.append(row)
        }
    }

    package mutating func add(_ rows: [Row]) {
        for row in rows { add(row) }
    }

    package var onDisk: VaultChange {
        var change = VaultChange(in: partition)
        for row in rows {
            let (key, sealed) = row.onDisk
            if let sealed { change.puts.append(sealed) } else { change.deletes.append(key) }
        }
        return change
    }

    /// Whether it writes exactly this record.
    package func puts(_ record: SealedRecord) -> Bool {
        rows.contains { $0.onDisk.sealed.map { $0.rowKey == record.rowKey && $0.box == record.box } ?? false }
    }
}

extension CacheChange.Action {
    package var stored: StoredRecord<Record> {
        switch self {
        case .put(let stored), .delete(let stored): stored
        }
    }

    package var record: Record { stored.record }

    /// The record that is put; `nil` if it is removed.
    package var put: StoredRecord<Record>? { if case .put(let stored) = self { stored } else { nil } }

    fileprivate var onDisk: (key: RecordKey, sealed: SealedRecord?) { (record.key, put?.sealed) }
}

extension CacheChange.Row {
    /// The record's key and what is written; `nil` removes it.
    fileprivate var onDisk: (key: RecordKey, sealed: SealedRecord?) {
        switch self {
        case .account(let action): action.onDisk
        case .signOut(let action): action.onDisk
        case .appMetadata(let action): action.onDisk
        case .accessToken(let action): action.onDisk
        case .refreshToken(let action): action.onDisk
        case .idToken(let action): action.onDisk
        case .proofKey(let action): action.onDisk
        }
    }
}

extension Array {
    /// Applies an action, and keeps the elements in the order of their row keys, so that the first match stays the same after a
    /// restart.
    ///
    /// - Parameters:
    ///   - sealed: the element's record as on disk, whose row identifies it.
    ///   - element: makes the element of the record that is put.
    mutating func apply<Record: VaultRecord>(
        _ action: CacheChange.Action<Record>, at sealed: KeyPath<Element, SealedRecord>,
        _ element: (StoredRecord<Record>) -> Element
    ) {
        let rowKey = action.stored.sealed.rowKey
        var (place, end) = (startIndex, endIndex)
        while place < end {
            let middle = place + (end - place) / 2
            if self[middle][keyPath: sealed].rowKey.lexicographicallyPrecedes(rowKey) {
                place = middle + 1
            } else {
                end = middle
            }
        }
        let isThere = place < endIndex && self[place][keyPath: sealed].rowKey == rowKey
        switch action {
        case .put(let stored) where isThere: self[place] = element(stored)
        case .put(let stored): insert(element(stored), at: place)
        case .delete: if isThere { remove(at: place) }
        }
    }
}

extension Sequence {
    package func inOrder<Record: VaultRecord>() -> [Element] where Element == StoredRecord<Record> {
        sorted { $0.sealed.rowKey.lexicographicallyPrecedes($1.sealed.rowKey) }
    }
}
