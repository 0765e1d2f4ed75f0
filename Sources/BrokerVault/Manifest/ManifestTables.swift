import BrokerModel

extension SQLiteConnection {
    func wrappedKey(of partition: Partition) throws(VaultError) -> [UInt8]? {
        try rows("SELECT wrapped FROM partition_key WHERE partition = ?1", .integer(Int64(partition.uid))) {
            $0.blob(0)
        }.first
    }

    /// A partition's root, or the manifest of the whole vault.
    func manifestRoot(of partition: Partition) throws(VaultError) -> [UInt8]? {
        try rows("SELECT box FROM manifest WHERE partition = ?1", .integer(Int64(partition.uid))) { $0.blob(0) }.first
    }

    func putManifest(_ box: [UInt8], of partition: Partition) throws(VaultError) {
        try run(
            "INSERT OR REPLACE INTO manifest (partition, box) VALUES (?1, ?2)", .integer(Int64(partition.uid)),
            .blob(box))
    }

    func manifestPage(_ place: ManifestPlace) throws(VaultError) -> [UInt8]? {
        try rows("SELECT box FROM manifest_page WHERE id = ?1", .integer(place.id)) { $0.blob(0) }.first
    }

    func manifestPages(of partition: Partition) throws(VaultError) -> [UInt8: [UInt8]] {
        let found = try rows(
            "SELECT id, box FROM manifest_page WHERE id BETWEEN ?1 AND ?2",
            .integer(ManifestPlace(partition, page: .min).id), .integer(ManifestPlace(partition, page: .max).id)
        ) { (UInt8(truncatingIfNeeded: $0.integer(0)), $0.blob(1)) }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    func putManifestPage(_ box: [UInt8]?, at place: ManifestPlace) throws(VaultError) {
        if let box {
            try run(
                "INSERT OR REPLACE INTO manifest_page (id, box) VALUES (?1, ?2)", .integer(place.id), .blob(box))
        } else {
            try run("DELETE FROM manifest_page WHERE id = ?1", .integer(place.id))
        }
    }
}
