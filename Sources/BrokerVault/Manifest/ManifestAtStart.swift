import BrokerModel

/// The state of the vault's manifest when its key has just been opened, before any record is read.
struct ManifestAtStart {
    /// The content of the store. It takes a few rows for each partition, regardless of the number of records.
    struct Found: Sendable {
        var manifest: [UInt8]?
        /// For every partition that has a key; the value is nil if the root is gone.
        var roots: [Partition: Fingerprint?]
    }

    enum Finding: Sendable, Equatable {
        /// The file is as the last commit left it, as far as the broker knows.
        case newest
        /// The manifest, which distinguishes old records from new ones, is gone or was changed.
        case manifestLost
        /// An earlier file has replaced the last one.
        case rolledBack
    }

    let vault: VaultManifest
    let finding: Finding

    /// - Parameters:
    ///   - keys: of the vault as a whole; nil if there are none.
    ///   - remembered: the marks from each place outside the file.
    init(_ found: Found, keys: PartitionKeys?, remembered: [RollbackAnchor.Found]) {
        let opened = found.manifest.flatMap { box in
            keys.flatMap { ManifestSeal.open(box, as: .vault, keys: $0) }.flatMap { VaultManifest($0) }
        }
        var vault = opened ?? VaultManifest()
        if opened == nil, !found.roots.isEmpty || found.manifest != nil {
            finding = .manifestLost
            vault.partitions = found.roots.mapValues { VaultManifest.PartitionState(root: $0) }
        } else if remembered.contains(where: {
            Self.isEarlier(vault, found.manifest.flatMap { Fingerprint($0) }, than: $0)
        }) {
            finding = .rolledBack
        } else {
            finding = .newest
        }
        if finding != .newest {
            for case .mark(let mark) in remembered { vault.commit = max(vault.commit, mark.commit) }
            vault.partitions[.wholeVault] = VaultManifest.PartitionState()
            vault.partitions = vault.partitions.mapValues {
                VaultManifest.PartitionState(root: $0.root, isRolledBack: true)
            }
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
        try read { (rows) throws(VaultError) in
            var roots: [Partition: Fingerprint?] = [:]
            for number in try rows.wrappedKeys().keys {
                guard let partition = Partition(storedAs: number), partition != .wholeVault else { continue }
                roots[partition] = .some(try rows.manifest(of: partition).flatMap { Fingerprint($0) })
            }
            return ManifestAtStart.Found(manifest: try rows.manifest(of: .wholeVault), roots: roots)
        }
    }
}
