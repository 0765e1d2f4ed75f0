import BrokerModel

/// What the vault's manifest is when its key has just been opened, and before any record is read.
struct ManifestAtStart {
    /// What the file has. A row or two are read for it, however many records there are.
    struct Found: Sendable {
        var manifest: [UInt8]?
        /// Of every partition that has a key; the values are nil where there is none.
        var roots: [Partition: Fingerprint?]
    }

    enum Finding: Sendable, Equatable {
        /// The file is as the last commit left it, as far as is known.
        case newest
        /// What tells old records from new ones is gone or was changed.
        case manifestLost
        /// An earlier file was put in place of the last one.
        case rolledBack
    }

    let vault: VaultManifest
    let finding: Finding

    /// - Parameters:
    ///   - keys: of the vault as a whole; nil if there are none.
    ///   - remembered: outside of the file, in each place.
    init(_ found: Found, keys: PartitionKeys?, remembered: [RollbackAnchor.Found]) {
        let opened = found.manifest.flatMap { box in
            keys.flatMap { ManifestSeal.open(box, as: .vault, keys: $0) }.flatMap { VaultManifest($0) }
        }
        var vault = opened ?? VaultManifest()
        if opened == nil, !found.roots.isEmpty || found.manifest != nil {
            finding = .manifestLost
            vault.partitions = found.roots.mapValues { VaultManifest.Standing(root: $0) }
        } else if remembered.contains(where: {
            Self.isEarlier(vault, found.manifest.flatMap { Fingerprint($0) }, than: $0)
        }) {
            finding = .rolledBack
        } else {
            finding = .newest
        }
        if finding != .newest {
            for case .mark(let mark) in remembered { vault.commit = max(vault.commit, mark.commit) }
            vault.partitions[.wholeVault] = VaultManifest.Standing()
            vault.partitions = vault.partitions.mapValues { VaultManifest.Standing(root: $0.root, isRolledBack: true) }
        }
        self.vault = vault
    }

    private static func isEarlier(
        _ vault: VaultManifest, _ box: Fingerprint?, than remembered: RollbackAnchor.Found
    ) -> Bool {
        switch remembered {
        case .nothing: false
        case .foreign: true
        case .mark(let mark): vault.commit < mark.commit || vault.commit == mark.commit && box != mark.manifest
        }
    }
}

extension VaultReader {
    func manifestAtStart() throws(VaultError) -> ManifestAtStart.Found {
        try withSnapshot { (connection) throws(VaultError) in
            var roots: [Partition: Fingerprint?] = [:]
            for number in try connection.rows("SELECT partition FROM partition_key", read: { $0.integer(0) }) {
                guard let partition = UInt32(exactly: number).map(Partition.init), partition != .wholeVault else {
                    continue
                }
                roots[partition] = .some(try connection.manifestRoot(of: partition).flatMap { Fingerprint($0) })
            }
            return ManifestAtStart.Found(manifest: try connection.manifestRoot(of: .wholeVault), roots: roots)
        }
    }
}
