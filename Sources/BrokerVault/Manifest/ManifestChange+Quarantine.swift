import BrokerModel

extension ManifestChange {
    /// Moves rows that do not open, or are not of the last commit, to quarantine, and notes those that are gone.
    ///
    /// - Returns: how many rows were moved, and how many are gone.
    mutating func quarantine(
        _ found: QuarantineQueue.Found, isWhole: (StoredRow) throws(VaultError) -> Bool
    ) throws(VaultError) -> (moved: Int, missing: Int) {
        var (places, damaged) = try places(of: found)
        var gone: [(place: ManifestPlace, entry: ManifestPage.Entry)] = []
        for place in places {
            var review = PageReview(try page(place).entries)
            for row in try rows.records(.page(place)) where try !(isWhole(row) && review.isListed(row)) {
                damaged.append(row)
            }
            gone += review.unaccounted.map { (place, $0) }
        }
        for row in damaged { try rows.setAside(row) }
        for (place, entry) in gone { try remove(row: entry.row, at: place) }
        // A page lists a damaged row under the key that it still has: that one is not missing.
        let moved = Set(damaged.compactMap { Fingerprint($0.rowKey) })
        let missing = gone.filter { !moved.contains($0.entry.row) }
        for (place, entry) in missing { try rows.noteMissing(kind: entry.kind, in: place.partition) }
        return (damaged.count, missing.count)
    }

    /// The pages to go through, and the rows that no page can list.
    private func places(
        of found: QuarantineQueue.Found
    ) throws(VaultError) -> (places: Set<ManifestPlace>, others: [StoredRow]) {
        var (places, others) = (found.places, [StoredRow]())
        for id in found.rows {
            guard let row = try rows.records(.id(id)).first else { continue }
            if let place = try place(of: row) { places.insert(place) } else { others.append(row) }
        }
        return (places, others)
    }

    /// - Returns: nil for a row whose columns name no place with a manifest.
    private func place(of row: StoredRow) throws(VaultError) -> ManifestPlace? {
        guard let partition = Partition(storedAs: row.partition),
            let place = ManifestPlace(partition, bucketKey: row.bucketKey)
        else { return nil }
        do {
            return try keys.keys(of: partition, stored: rows.wrappedKey(of:)) == nil ? nil : place
        } catch .damaged {
            return nil
        }
    }
}
