import BrokerModel

/// Migrates a vault of format 1 to the current one, in one transaction: a broker that is killed meanwhile leaves the old vault.
///
/// Everything is resealed, with the new format bound into it. A file that only claims to be an old one, so that its rows would be
/// accepted without a manifest, does not open.
struct VaultMigration {
    private static let rowsAtATime = 256

    private let older: KeyWrapping
    private let newer: KeyWrapping
    private let reading = RecordSealer(format: VaultFormat.oldest)
    private let writing = RecordSealer()

    init(from older: KeyWrapping, to newer: KeyWrapping) {
        self.older = older
        self.newer = newer
    }

    /// - Returns: how many damaged rows were set aside.
    func run(on rows: any RowTransaction) throws(VaultError) -> Int {
        try rows.raiseFormat()
        let keys = try wrapKeys(on: rows)
        let setAside = try sealRows(keys, on: rows)
        try rows.putHeader(newer.check, named: VaultHeader.Name.keyCheck)
        return setAside
    }

    /// - Returns: the data keys that open. A damaged one stays as it is, and so do its rows.
    private func wrapKeys(on rows: any RowTransaction) throws(VaultError) -> [Partition: PartitionKeys] {
        var keys: [Partition: PartitionKeys] = [:]
        for (number, wrapped) in try rows.wrappedKeys() {
            guard let partition = Partition(storedAs: number), let dataKeys = older.unwrap(wrapped, of: partition)
            else {
                continue
            }
            keys[partition] = dataKeys.keys
            try rows.putWrappedKey(newer.wrap(dataKeys, of: partition), of: partition)
        }
        return keys
    }

    private func sealRows(
        _ keys: [Partition: PartitionKeys], on rows: any RowTransaction
    ) throws(VaultError) -> Int {
        var manifest = ManifestChange(of: KnownManifest(), keys: KeyRing(wrapping: newer), in: rows)
        var setAside = 0
        var last = Int64.min
        while true {
            let some = try rows.records(.any(after: last, atMost: Self.rowsAtATime))
            guard let end = some.last?.id else { break }
            last = end
            for row in some {
                let partition = Partition(storedAs: row.partition)
                if let partition, keys[partition] == nil, try rows.wrappedKey(of: partition) != nil { continue }
                guard let partition, let keys = keys[partition], let record = try sealed(row, in: partition, keys)
                else {
                    try rows.setAside(row)
                    setAside += 1
                    continue
                }
                try rows.replaceBox(of: row, by: record.box)
                try manifest.put(record)
            }
        }
        _ = try manifest.write()
        return setAside
    }

    /// The row's record, sealed anew.
    ///
    /// - Returns: nil for a damaged row.
    private func sealed(
        _ row: StoredRow, in partition: Partition, _ keys: PartitionKeys
    ) throws(VaultError) -> SealedRecord? {
        guard let kind = RecordKind(storedAs: row.kind), let content = try content(of: row, keys) else { return nil }
        return try writing.seal(
            fields: content.fields, secret: content.secret, kind: kind, rowKey: row.rowKey, bucketKey: row.bucketKey,
            in: partition, keys: keys)
    }

    private func content(
        of row: StoredRow, _ keys: PartitionKeys
    ) throws(VaultError) -> (fields: [UInt8], secret: Secret?)? {
        do {
            return try reading.open(row, keys: keys) { fields, secret in
                (Array(fields), secret.isEmpty ? nil : Secret(copying: secret))
            }
        } catch .recordDamaged {
            return nil
        }
    }
}
