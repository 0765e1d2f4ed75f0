import BrokerModel

/// Migrates a vault of format 1 to the current one, in one transaction: a broker that is killed meanwhile leaves the old vault.
///
/// Everything is resealed, with the new format bound into it. A file that only claims to be an old one, so that its rows would be
/// accepted without a manifest, does not open.
struct VaultMigration {
    private static let rowsAtATime = 256

    private let older: KeyWrapping
    private let newer: KeyWrapping

    init(from older: KeyWrapping, to newer: KeyWrapping) {
        self.older = older
        self.newer = newer
    }

    /// - Returns: how many damaged rows were set aside.
    func run(on connection: SQLiteConnection) throws(VaultError) -> Int {
        try connection.transaction { (connection) throws(VaultError) in
            for statement in VaultFormat.manifest { try connection.run(statement) }
            let keys = try wrapKeys(on: connection)
            let setAside = try sealRows(keys, on: connection)
            try connection.run("UPDATE header SET value = ?1 WHERE name = 'key-check'", .blob(newer.check))
            try connection.run("PRAGMA user_version = \(VaultFormat.current)")
            return setAside
        }
    }

    /// - Returns: the data keys that open. A damaged one stays as it is, and so do its rows.
    private func wrapKeys(on connection: SQLiteConnection) throws(VaultError) -> [Partition: PartitionKeys] {
        var keys: [Partition: PartitionKeys] = [:]
        for number in try connection.rows("SELECT partition FROM partition_key", read: { $0.integer(0) }) {
            guard let partition = UInt32(exactly: number).map(Partition.init),
                let wrapped = try connection.wrappedKey(of: partition),
                let dataKeys = older.unwrap(wrapped, of: partition)
            else { continue }
            keys[partition] = dataKeys.keys
            try connection.run(
                "UPDATE partition_key SET wrapped = ?2 WHERE partition = ?1", .integer(number),
                .blob(newer.wrap(dataKeys, of: partition)))
        }
        return keys
    }

    private func sealRows(
        _ keys: [Partition: PartitionKeys], on connection: SQLiteConnection
    ) throws(VaultError) -> Int {
        let (reading, writing) = (RecordSealer(format: 1), RecordSealer())
        var manifest = ManifestChange(of: KnownManifest(), keys: KeyRing(wrapping: newer))
        var setAside = 0
        var last = Int64.min
        while true {
            let rows = try connection.records(
                "id > ?1 ORDER BY id LIMIT ?2", .integer(last), .integer(Int64(Self.rowsAtATime)))
            guard let end = rows.last?.id else { break }
            last = end
            for row in rows {
                let partition = UInt32(exactly: row.partition).map(Partition.init)
                if let partition, keys[partition] == nil, try connection.wrappedKey(of: partition) != nil { continue }
                guard let partition, let keys = keys[partition], let kind = RecordKind(storedAs: row.kind),
                    let content = try content(of: row, reading, keys)
                else {
                    try connection.setAside(row)
                    setAside += 1
                    continue
                }
                let record = try writing.seal(
                    fields: content.fields, secret: content.secret, kind: kind, rowKey: row.rowKey,
                    bucketKey: row.bucketKey, in: partition, keys: keys)
                try connection.replaceBox(of: row, by: record)
                try manifest.put(record, on: connection)
            }
        }
        _ = try manifest.write(to: connection)
        return setAside
    }

    /// - Returns: nil for a damaged row.
    private func content(
        of row: StoredRow, _ sealer: RecordSealer, _ keys: PartitionKeys
    ) throws(VaultError) -> (fields: [UInt8], secret: Secret?)? {
        do {
            return try sealer.open(row, keys: keys) { fields, secret in
                (Array(fields), secret.isEmpty ? nil : Secret(copying: secret))
            }
        } catch .recordDamaged {
            return nil
        }
    }
}
