import BrokerModel
import Logging
import Synchronization

/// Commits: changes of rows together with the manifest. Everything here waits for the disk: call it on the vault's queue only.
final class VaultWriter: Sendable {
    private let store: any RowStore
    private let claim: Mutex<DirectoryClaim?>
    private let keys: KeyRing
    private let known: KnownManifest
    private let anchors: [RollbackAnchor]
    private let logger: Logger

    /// - Parameter claim: on the vault's directory; released when the store is closed.
    init(
        _ store: any RowStore, claim: DirectoryClaim, keys: KeyRing, known: KnownManifest, anchors: [RollbackAnchor],
        logger: Logger
    ) {
        self.store = store
        self.claim = Mutex(claim)
        self.keys = keys
        self.known = known
        self.anchors = anchors
        self.logger = logger
    }

    deinit { close() }

    /// - Returns: pages of the manifest that were not those of the last commit.
    func apply(_ write: WriteSet) throws(VaultError) -> Set<ManifestPlace> {
        try commit { (rows, manifest) throws(VaultError) in
            for delete in write.deletes {
                try rows.remove(rowKey: delete.rowKey)
                guard let row = Fingerprint(delete.rowKey) else { continue }
                try manifest.remove(row: row, at: delete.place)
            }
            for record in write.puts {
                try rows.put(record)
                try manifest.put(record)
            }
            return manifest.unproven
        }
    }

    /// Rewrites the rows of some pages of the manifest, and the pages. Only rows that their page lists: a row that was put back
    /// does not become a new one.
    ///
    /// - Parameters:
    ///   - enough: after this number of rows, the next page is left for another transaction.
    ///   - replacement: returns nil for a row that is to stay as it is.
    /// - Returns: mismatches, and the page to continue with; nil after the last.
    func replace(
        in partition: Partition, from first: UInt8, enough: Int,
        _ replacement: @Sendable (StoredRow) throws(VaultError) -> SealedRecord?
    ) throws(VaultError) -> (found: QuarantineQueue.Found, next: UInt8?) {
        try commit { (rows, manifest) throws(VaultError) in
            var found = QuarantineQueue.Found()
            var count = 0
            for page in first...UInt8.max {
                guard count < enough else { return (found, page) }
                let place = ManifestPlace(partition, page: page)
                var review = PageReview(try manifest.page(place).entries)
                for row in try rows.records(.page(place)) {
                    count += 1
                    guard review.isListed(row) else {
                        found.rows.insert(row.id)
                        continue
                    }
                    guard let record = try replacement(row) else { continue }
                    try rows.replaceBox(of: row, by: record.box)
                    try manifest.put(record)
                }
                if !review.unaccounted.isEmpty || manifest.unproven.contains(place) { found.places.insert(place) }
            }
            return (found, nil)
        }
    }

    /// Rewrites all data keys, and the header's description of the key that wraps them.
    func write(_ wrapped: [Partition: [UInt8]], _ header: VaultHeader) throws(VaultError) {
        try commit { (rows, _) throws(VaultError) in
            for (partition, wrapped) in wrapped { try rows.putWrappedKey(wrapped, of: partition) }
            try header.write(to: rows)
        }
    }

    /// - Returns: how many damaged rows were set aside.
    func migrate(_ migration: VaultMigration) throws(VaultError) -> Int {
        try store.write { (rows) throws(VaultError) in try migration.run(on: rows) }
    }

    /// Removes a vault key that does not open. It only seals data that can be recreated, so another replaces it.
    func dropVaultKey() throws(VaultError) {
        try store.write { (rows) throws(VaultError) in try rows.putWrappedKey(nil, of: .wholeVault) }
    }

    /// Writes down roll-backs that were detected in the vault as a whole.
    func note() throws(VaultError) { try commit { (_, _) throws(VaultError) in } }

    /// Accepts the current state, regardless of what was there before. Its quarantined rows, and those of unknown partitions, are
    /// removed.
    ///
    /// - Returns: how many rows are still in quarantine, and how many are known to be gone.
    func accept(_ partition: Partition) throws(VaultError) -> (moved: Int, missing: Int) {
        try commit { (rows, manifest) throws(VaultError) in
            manifest.accept(partition)
            try rows.emptyQuarantine(of: partition)
            return try rows.quarantined()
        }
    }

    /// Erases everything of a partition: rows, lists, and the key, the only one that opens the rows in copies of the vault.
    func erase(_ partition: Partition) throws(VaultError) {
        try commit { (rows, manifest) throws(VaultError) in
            try rows.erase(partition)
            manifest.forget(partition)
        }
        keys.forget(partition)
    }

    /// Moves rows that do not open, or are not of the last commit, to quarantine; nothing is deleted. Missing rows get an entry
    /// there, too.
    ///
    /// - Parameter isWhole: called again for each row as it is now; it may have been rewritten.
    /// - Returns: how many rows were moved, and how many are gone.
    func quarantine(
        _ found: QuarantineQueue.Found, isWhole: @Sendable (StoredRow) throws(VaultError) -> Bool
    ) throws(VaultError) -> (moved: Int, missing: Int) {
        try commit { (_, manifest) throws(VaultError) in try manifest.quarantine(found, isWhole: isWhole) }
    }

    /// One durable transaction, with its manifest.
    private func commit<Result: Sendable>(
        _ body: @Sendable (any RowTransaction, inout ManifestChange) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            let (result, committed) = try store.write { [known, keys] (rows) throws(VaultError) in
                var manifest = ManifestChange(of: known, keys: keys, in: rows)
                let result = try body(rows, &manifest)
                let committed = try manifest.write()
                known.willCommit(committed.vault)
                return (result, committed)
            }
            didCommit(committed)
            return result
        } catch {
            known.didAbort()
            throw error
        }
    }

    private func didCommit(_ committed: ManifestChange.Committed) {
        known.didCommit(committed.vault, from: committed.before)
        for partition in committed.partitions { keys.markSaved(partition) }
        remember(committed)
        for partition in committed.rolledBack { logger.error(rolledBack: partition) }
    }

    private func remember(_ committed: ManifestChange.Committed) {
        guard !anchors.isEmpty, let box = committed.box,
            let keys = try? keys.keys(of: .wholeVault, stored: { (_) throws(VaultError) in nil })
        else { return }
        let mark = RollbackAnchor.Mark(commit: committed.vault.commit, manifest: box)
        for anchor in anchors where !anchor.write(mark, keys: keys) {
            logger.notice("the vault's last commit could not be recorded outside the vault")
        }
    }

    /// Removes the copies of deleted and replaced records (sealed) that the store still has.
    func checkpoint() throws(VaultError) { try store.checkpoint() }

    /// As ``checkpoint()``, when nobody waits for it: a failure costs only space.
    func tidy(onlyIfDue: Bool = false) {
        if onlyIfDue, !store.isCheckpointDue { return }
        do {
            try store.checkpoint()
        } catch {
            logger.warning("The vault's log could not be moved into its file; trying again later", error: error)
        }
    }

    /// Safe to call twice.
    func close() {
        tidy()
        store.close()
        // Last, so that the next broker finds the store closed.
        claim.withLock { $0 = nil }
    }
}

/// The changes of one commit, with the names that the store uses.
struct WriteSet: Sendable {
    var puts: [SealedRecord]
    var deletes: [Delete]

    struct Delete: Sendable {
        var rowKey: [UInt8]
        var place: ManifestPlace
    }
}

extension Logger {
    func error(rolledBack partition: Partition) {
        error(
            "an earlier state of the records of uid \(partition.uid) was put in place of the last one",
            metadata: ["uid": "\(partition.uid)"])
    }

    func warning(_ text: Logger.Message, error: VaultError) {
        warning(text, metadata: ["error": "\(error)"])
    }
}
