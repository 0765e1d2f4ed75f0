import BrokerModel

/// The rows of one part of a partition, with the box of each: it reveals rows that were put back, exchanged or deleted. A
/// partition has up to 256 pages, by the first byte of the rows' bucket keys, so that a bucket is on one page.
package struct ManifestPage: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        let kind: UInt8
        let bucket: Fingerprint
        let row: Fingerprint
        let box: Fingerprint
    }

    private(set) var entries: [Entry] = []

    init() {}

    mutating func put(_ entry: Entry) {
        if let place = entries.firstIndex(where: { $0.row == entry.row }) {
            entries[place] = entry
        } else {
            entries.append(entry)
        }
    }

    mutating func remove(row: Fingerprint) { entries.removeAll { $0.row == row } }

    /// `nil` if the page is empty: an empty page is not stored.
    package var bytes: [UInt8]? {
        guard !entries.isEmpty else { return nil }
        var bytes = CanonicalBytes(reserving: entries.count * (1 + 3 * Fingerprint.count))
        for entry in entries {
            bytes.append(entry.kind)
            entry.bucket.append(to: &bytes)
            entry.row.append(to: &bytes)
            entry.box.append(to: &bytes)
        }
        return bytes.bytes
    }

    package init?(_ bytes: [UInt8]) {
        var reader = CanonicalReader(bytes)
        entries.reserveCapacity(bytes.count / (1 + 3 * Fingerprint.count))
        while !reader.isAtEnd {
            guard let kind = reader.byte(), let bucket = reader.fingerprint(), let row = reader.fingerprint(),
                let box = reader.fingerprint()
            else { return nil }
            entries.append(Entry(kind: kind, bucket: bucket, row: row, box: box))
        }
    }
}

extension ManifestPage.Entry {
    /// - Returns: nil for columns that no row of ours has.
    init?(kind: UInt8, bucketKey: [UInt8], rowKey: [UInt8], box: [UInt8]) {
        guard let bucket = Fingerprint(bucketKey), let row = Fingerprint(rowKey), let box = Fingerprint(box) else {
            return nil
        }
        self.init(kind: kind, bucket: bucket, row: row, box: box)
    }

    init?(_ row: StoredRow) {
        guard let kind = UInt8(exactly: row.kind) else { return nil }
        self.init(kind: kind, bucketKey: row.bucketKey, rowKey: row.rowKey, box: row.box)
    }
}

/// Compares the manifest's list with the rows in the file.
struct PageReview {
    /// Listed rows that have not been found.
    private var expected: [Fingerprint: ManifestPage.Entry]

    init(_ entries: [ManifestPage.Entry]) {
        expected = Dictionary(entries.map { ($0.row, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the row is listed exactly as it is. A second row of the same key is not.
    mutating func isListed(_ row: StoredRow) -> Bool {
        guard let entry = ManifestPage.Entry(row), expected[entry.row] == entry else { return false }
        expected[entry.row] = nil
        return true
    }

    var unaccounted: [ManifestPage.Entry] { Array(expected.values) }
}
