import BrokerModel

/// The manifest during one commit: changed inside the transaction that changes the rows.
struct ManifestChange {
    private struct Part {
        let keys: PartitionKeys
        var root: ManifestRoot
        var pages: [UInt8: ManifestPage] = [:]
    }

    /// The manifest when the change began.
    let before: VaultManifest
    private(set) var vault: VaultManifest
    private var parts: [Partition: Part] = [:]
    /// Pages that are not those of the last commit: the rows that they listed are unknown.
    private(set) var unproven: Set<ManifestPlace> = []
    /// Partitions that are not as the last commit left them.
    private(set) var rolledBack: Set<Partition> = []
    private let known: KnownManifest
    private let keys: KeyRing

    init(of known: KnownManifest, keys: KeyRing) {
        before = known.vault
        vault = before
        self.known = known
        self.keys = keys
    }

    mutating func put(_ record: SealedRecord, on connection: SQLiteConnection) throws(VaultError) {
        guard let place = ManifestPlace(record.partition, bucketKey: record.bucketKey),
            let entry = ManifestPage.Entry(
                kind: record.kind.rawValue, bucketKey: record.bucketKey, rowKey: record.rowKey, box: record.box)
        else { throw .recordDamaged }
        try change(place, on: connection) { $0.put(entry) }
    }

    mutating func remove(
        row: Fingerprint, at place: ManifestPlace, on connection: SQLiteConnection
    ) throws(VaultError) {
        try change(place, on: connection) { $0.remove(row: row) }
    }

    /// The page as the last commit left it, or an empty one. It is rewritten.
    mutating func page(_ place: ManifestPlace, on connection: SQLiteConnection) throws(VaultError) -> ManifestPage {
        try change(place, on: connection) { $0 }
    }

    private mutating func change<Result>(
        _ place: ManifestPlace, on connection: SQLiteConnection, _ body: (inout ManifestPage) -> Result
    ) throws(VaultError) -> Result {
        var part = try part(place.partition, on: connection)
        parts[place.partition] = nil
        defer { parts[place.partition] = part }
        var page: ManifestPage
        if let touched = part.pages[place.page] {
            page = touched
        } else {
            let found = try connection.manifestPage(place)
            switch part.root.page(place, found: found, keys: part.keys) {
            case .listed(let listed): page = listed
            case .unproven:
                page = ManifestPage()
                unproven.insert(place)
            }
        }
        part.pages[place.page] = nil
        defer { part.pages[place.page] = page }
        return body(&page)
    }

    private mutating func part(
        _ partition: Partition, on connection: SQLiteConnection
    ) throws(VaultError) -> Part {
        if let part = parts[partition] { return part }
        let keys = try keys.keysMakingNew(for: partition) { (partition) throws(VaultError) in
            try connection.wrappedKey(of: partition)
        }
        let box = try connection.manifestRoot(of: partition)
        let found = box.flatMap { Fingerprint($0) }
        if found != vault.state(of: partition).root {
            if known.rollBack(partition, to: found) { rolledBack.insert(partition) }
            vault.partitions[partition] = VaultManifest.PartitionState(root: found, isRolledBack: true)
        }
        let root = known.root(found, of: partition) { ManifestRoot(box, of: partition, keys: keys) }
        let part = Part(keys: keys, root: root)
        parts[partition] = part
        return part
    }

    /// Accepts the current state of a partition, regardless of what was there before.
    mutating func accept(_ partition: Partition) {
        vault.partitions[partition] = VaultManifest.PartitionState(root: vault.state(of: partition).root)
        let others = vault.partitions.filter { $0.key != .wholeVault }
        if !others.values.contains(where: \.isRolledBack) { vault.partitions[.wholeVault] = nil }
    }

    /// Removes a partition from the manifest.
    mutating func forget(_ partition: Partition) {
        parts[partition] = nil
        vault.partitions[partition] = nil
    }

    /// Writes all changes, and the keys of new partitions.
    ///
    /// - Returns: the new box of the vault's manifest.
    mutating func write(to connection: SQLiteConnection) throws(VaultError) -> Fingerprint? {
        for (partition, part) in parts {
            let root = try write(part, of: partition, to: connection)
            let box = ManifestSeal.seal(root.bytes, as: .root(partition), keys: part.keys)
            try connection.putManifest(box, of: partition)
            var entry = vault.state(of: partition)
            entry.root = Fingerprint(box)
            vault.partitions[partition] = entry
        }
        vault.commit += 1
        let vaultKeys = try keys.keysMakingNew(for: .wholeVault) { (partition) throws(VaultError) in
            try connection.wrappedKey(of: partition)
        }
        let box = ManifestSeal.seal(vault.bytes, as: .vault, keys: vaultKeys)
        try connection.putManifest(box, of: .wholeVault)
        for partition in parts.keys + [.wholeVault] {
            guard let wrapped = keys.unsavedKey(of: partition) else { continue }
            try connection.run(
                "INSERT OR IGNORE INTO partition_key (partition, wrapped) VALUES (?1, ?2)",
                .integer(Int64(partition.uid)),
                .blob(wrapped))
        }
        return Fingerprint(box)
    }

    private func write(
        _ part: Part, of partition: Partition, to connection: SQLiteConnection
    ) throws(VaultError) -> ManifestRoot {
        var root = part.root
        for (number, page) in part.pages {
            let place = ManifestPlace(partition, page: number)
            let box = page.bytes.map { ManifestSeal.seal($0, as: .page(place), keys: part.keys) }
            try connection.putManifestPage(box, at: place)
            root.pages[number] = box.flatMap { Fingerprint($0) }
        }
        return root
    }

    /// Call it when the commit is on disk.
    func markKeysSaved() { for partition in parts.keys + [.wholeVault] { keys.markSaved(partition) } }
}

extension ManifestRoot {
    enum PageFound {
        case listed(ManifestPage)
        /// Not the page of the last commit.
        case unproven
    }

    init?(_ box: [UInt8]?, of partition: Partition, keys: PartitionKeys) {
        guard let box, let bytes = ManifestSeal.open(box, as: .root(partition), keys: keys) else { return nil }
        self.init(bytes)
    }

    func page(_ place: ManifestPlace, found box: [UInt8]?, keys: PartitionKeys) -> PageFound {
        guard let listed = pages[place.page] else { return .listed(ManifestPage()) }
        guard let box, Fingerprint(box) == listed,
            let page = ManifestSeal.open(box, as: .page(place), keys: keys).flatMap({ ManifestPage($0) })
        else { return .unproven }
        return .listed(page)
    }
}
