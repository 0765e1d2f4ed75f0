import BrokerModel

/// The manifest during one commit: changed inside the transaction that changes the rows.
struct ManifestChange {
    private struct Part {
        let keys: PartitionKeys
        var root: ManifestRoot
        var pages: [UInt8: ManifestPage] = [:]
    }

    /// The manifest of the whole vault before and after a commit, and the news of it.
    struct Committed: Sendable {
        let before: VaultManifest
        let vault: VaultManifest
        /// The new box of the vault's manifest.
        let box: Fingerprint?
        /// Partitions whose keys are on disk from now on.
        let partitions: [Partition]
        /// Partitions that were not as the last commit left them.
        let rolledBack: Set<Partition>
    }

    private let before: VaultManifest
    private var vault: VaultManifest
    private var parts: [Partition: Part] = [:]
    /// Pages that are not those of the last commit: the rows that they listed are unknown.
    private(set) var unproven: Set<ManifestPlace> = []
    private var rolledBack: Set<Partition> = []
    private let known: KnownManifest
    let keys: KeyRing
    let rows: any RowTransaction

    init(of known: KnownManifest, keys: KeyRing, in rows: any RowTransaction) {
        before = known.vault
        vault = before
        self.known = known
        self.keys = keys
        self.rows = rows
    }

    mutating func put(_ record: SealedRecord) throws(VaultError) {
        guard let place = ManifestPlace(record.partition, bucketKey: record.bucketKey),
            let entry = ManifestPage.Entry(
                kind: record.kind.rawValue, bucketKey: record.bucketKey, rowKey: record.rowKey, box: record.box)
        else { throw .recordDamaged }
        try change(place) { $0.put(entry) }
    }

    mutating func remove(row: Fingerprint, at place: ManifestPlace) throws(VaultError) {
        try change(place) { $0.remove(row: row) }
    }

    /// The page as the last commit left it, or an empty one. It is rewritten.
    mutating func page(_ place: ManifestPlace) throws(VaultError) -> ManifestPage { try change(place) { $0 } }

    private mutating func change<Result>(
        _ place: ManifestPlace, _ body: (inout ManifestPage) -> Result
    ) throws(VaultError) -> Result {
        var part = try part(place.partition)
        parts[place.partition] = nil
        defer { parts[place.partition] = part }
        var page: ManifestPage
        if let touched = part.pages[place.page] {
            page = touched
        } else {
            switch part.root.page(place, found: try rows.manifestPage(place), keys: part.keys) {
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

    private mutating func part(_ partition: Partition) throws(VaultError) -> Part {
        if let part = parts[partition] { return part }
        let keys = try keys.keysMakingNew(for: partition, stored: rows.wrappedKey(of:))
        let box = try rows.manifest(of: partition)
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
    mutating func write() throws(VaultError) -> Committed {
        for (partition, part) in parts { try write(part, of: partition) }
        let box = try writeVault()
        let partitions = parts.keys + [.wholeVault]
        for partition in partitions {
            guard let wrapped = keys.unsavedKey(of: partition), try rows.wrappedKey(of: partition) == nil else {
                continue
            }
            try rows.putWrappedKey(wrapped, of: partition)
        }
        return Committed(before: before, vault: vault, box: box, partitions: partitions, rolledBack: rolledBack)
    }

    private mutating func write(_ part: Part, of partition: Partition) throws(VaultError) {
        var root = part.root
        for (number, page) in part.pages {
            let place = ManifestPlace(partition, page: number)
            let box = page.bytes.map { ManifestSeal.seal($0, as: .page(place), keys: part.keys) }
            try rows.putManifestPage(box, at: place)
            root.pages[number] = box.flatMap { Fingerprint($0) }
        }
        let box = ManifestSeal.seal(root.bytes, as: .root(partition), keys: part.keys)
        try rows.putManifest(box, of: partition)
        var entry = vault.state(of: partition)
        entry.root = Fingerprint(box)
        vault.partitions[partition] = entry
    }

    /// The list of all partitions, with the number of the commit.
    private mutating func writeVault() throws(VaultError) -> Fingerprint? {
        vault.commit += 1
        let keys = try keys.keysMakingNew(for: .wholeVault, stored: rows.wrappedKey(of:))
        let box = ManifestSeal.seal(vault.bytes, as: .vault, keys: keys)
        try rows.putManifest(box, of: .wholeVault)
        return Fingerprint(box)
    }
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
