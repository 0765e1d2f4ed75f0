import BrokerModel
import Logging
import Synchronization

/// The connection for writes. Everything here waits for the disk: call it on the vault's queue only.
final class VaultWriter: Sendable {
    /// About 4 MB of log; under constant writing it is moved into the file at that length.
    private static let writesPerCheckpoint = 500

    private struct State {
        var connection: SQLiteConnection?
        var claim: DirectoryClaim?
        var writesInLog = 0
    }

    private let state: Mutex<State>
    private let reader: VaultReader
    private let keys: KeyRing
    private let known: KnownManifest
    private let anchors: [RollbackAnchor]
    private let logger: Logger

    init(
        _ connection: sending SQLiteConnection, claim: DirectoryClaim, reader: VaultReader, keys: KeyRing,
        known: KnownManifest, anchors: [RollbackAnchor], logger: Logger
    ) {
        // One: an earlier broker may have left something in the log.
        state = Mutex(State(connection: connection, claim: claim, writesInLog: 1))
        self.reader = reader
        self.keys = keys
        self.known = known
        self.anchors = anchors
        self.logger = logger
    }

    deinit { close() }

    /// - Returns: pages of the manifest that were not those of the last commit.
    func apply(_ write: WriteSet) throws(VaultError) -> Set<ManifestPlace> {
        try commit { (connection, manifest) throws(VaultError) in
            for delete in write.deletes {
                try connection.run("DELETE FROM record WHERE row_key = ?1", .blob(delete.rowKey))
                guard let row = Fingerprint(delete.rowKey) else { continue }
                try manifest.remove(row: row, at: delete.place, on: connection)
            }
            for record in write.puts {
                try connection.put(record)
                try manifest.put(record, on: connection)
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
        try commit { (connection, manifest) throws(VaultError) in
            var found = QuarantineQueue.Found()
            var count = 0
            for page in first...UInt8.max {
                guard count < enough else { return (found, page) }
                let place = ManifestPlace(partition, page: page)
                var review = PageReview(try manifest.page(place, on: connection).entries)
                for row in try connection.records(at: place) {
                    count += 1
                    guard review.isListed(row) else {
                        found.rows.insert(row.id)
                        continue
                    }
                    guard let record = try replacement(row) else { continue }
                    try connection.replaceBox(of: row, by: record)
                    try manifest.put(record, on: connection)
                }
                if !review.unaccounted.isEmpty || manifest.unproven.contains(place) { found.places.insert(place) }
            }
            return (found, nil)
        }
    }

    /// Rewrites all data keys, and the header's description of the key that wraps them.
    func write(_ wrapped: [Partition: [UInt8]], _ header: VaultHeader) throws(VaultError) {
        try commit { (connection, _) throws(VaultError) in
            for (partition, wrapped) in wrapped {
                try connection.run(
                    "INSERT OR REPLACE INTO partition_key (partition, wrapped) VALUES (?1, ?2)",
                    .integer(Int64(partition.uid)), .blob(wrapped))
            }
            try connection.write(header)
        }
    }

    /// - Returns: how many damaged rows were set aside.
    func migrate(_ migration: VaultMigration) throws(VaultError) -> Int {
        try state.withLock { (state) throws(VaultError) in
            guard let connection = state.connection else { throw VaultError.closed }
            return try migration.run(on: connection)
        }
    }

    /// Removes a vault key that does not open. It only seals data that can be recreated, so another replaces it.
    func dropVaultKey() throws(VaultError) {
        try state.withLock { (state) throws(VaultError) in
            try state.connection?.run(
                "DELETE FROM partition_key WHERE partition = ?1", .integer(Int64(Partition.wholeVault.uid)))
        }
    }

    /// Writes down roll-backs that were detected in the vault as a whole.
    func note() throws(VaultError) { try commit { (_, _) throws(VaultError) in } }

    /// Accepts the current state, regardless of what was there before. Its quarantined rows, and those of unknown partitions, are
    /// removed.
    ///
    /// - Returns: how many rows are still in quarantine, and how many are known to be gone.
    func accept(_ partition: Partition) throws(VaultError) -> (moved: Int, missing: Int) {
        try commit { (connection, manifest) throws(VaultError) in
            manifest.accept(partition)
            // A row that was tampered with may name a partition that does not exist.
            try connection.run(
                "DELETE FROM quarantine WHERE partition = ?1 OR partition NOT IN (SELECT partition FROM partition_key)",
                .integer(Int64(partition.uid)))
            return try connection.quarantined()
        }
    }

    /// Erases everything of a partition: rows, lists, and the key, the only one that opens the rows in copies of the file.
    func erase(_ partition: Partition) throws(VaultError) {
        try commit { (connection, manifest) throws(VaultError) in
            let uid = SQLValue.integer(Int64(partition.uid))
            for table in ["record", "quarantine", "manifest", "partition_key"] {
                try connection.run("DELETE FROM \(table) WHERE partition = ?1", uid)
            }
            try connection.run(
                "DELETE FROM manifest_page WHERE id BETWEEN ?1 AND ?2",
                .integer(ManifestPlace(partition, page: .min).id), .integer(ManifestPlace(partition, page: .max).id))
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
        try commit { (connection, manifest) throws(VaultError) in
            var places = found.places
            var setAside: [StoredRow] = []
            for id in found.rows {
                guard let row = try connection.records("id = ?1", .integer(id)).first else { continue }
                if let place = try place(of: row) { places.insert(place) } else { setAside.append(row) }
            }
            var gone: [(place: ManifestPlace, entry: ManifestPage.Entry)] = []
            for place in places {
                var review = PageReview(try manifest.page(place, on: connection).entries)
                for row in try connection.records(at: place) where try !(isWhole(row) && review.isListed(row)) {
                    setAside.append(row)
                }
                gone += review.unaccounted.map { (place, $0) }
            }
            for row in setAside { try connection.setAside(row) }
            let keys = Set(setAside.compactMap { Fingerprint($0.rowKey) })
            for (place, entry) in gone { try manifest.remove(row: entry.row, at: place, on: connection) }
            let missing = gone.filter { !keys.contains($0.entry.row) }
            for (place, entry) in missing { try connection.noteMissing(kind: entry.kind, in: place.partition) }
            return (setAside.count, missing.count)
        }
    }

    /// - Returns: nil for a row whose columns name no place with a manifest.
    private func place(of row: StoredRow) throws(VaultError) -> ManifestPlace? {
        guard let uid = UInt32(exactly: row.partition),
            let place = ManifestPlace(Partition(uid: uid), bucketKey: row.bucketKey)
        else { return nil }
        do {
            let keys = try keys.keys(of: place.partition) { (partition) throws(VaultError) in
                try reader.wrappedKey(of: partition)
            }
            return keys == nil ? nil : place
        } catch .damaged {
            return nil
        }
    }

    /// One durable transaction, with its manifest.
    private func commit<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection, inout ManifestChange) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try state.withLock { (state) throws(VaultError) in
            guard let connection = state.connection else { throw VaultError.closed }
            let (result, manifest, box) = try attempt(on: connection, body)
            known.didCommit(manifest.vault, from: manifest.before)
            manifest.markKeysSaved()
            state.writesInLog += 1
            remember(manifest.vault.commit, box)
            for partition in manifest.rolledBack { logger.error(rolledBack: partition) }
            return result
        }
    }

    private func attempt<Result: Sendable>(
        on connection: SQLiteConnection,
        _ body: (SQLiteConnection, inout ManifestChange) throws(VaultError) -> Result
    ) throws(VaultError) -> (Result, ManifestChange, Fingerprint?) {
        do {
            return try connection.transaction { (connection) throws(VaultError) in
                var manifest = ManifestChange(of: known, keys: keys)
                let result = try body(connection, &manifest)
                let box = try manifest.write(to: connection)
                known.willCommit(manifest.vault)
                return (result, manifest, box)
            }
        } catch {
            known.didAbort()
            throw error
        }
    }

    private func remember(_ commit: UInt64, _ box: Fingerprint?) {
        guard !anchors.isEmpty, let box,
            let keys = try? keys.keys(of: .wholeVault, stored: { (_) throws(VaultError) in nil })
        else { return }
        let mark = RollbackAnchor.Mark(commit: commit, manifest: box)
        for anchor in anchors where !anchor.write(mark, keys: keys) {
            logger.notice("the vault's last commit could not be recorded outside the vault")
        }
    }

    /// Moves the log into the file and empties it: until then, it still contains deleted and replaced records (sealed).
    func checkpoint() throws(VaultError) {
        try state.withLock { (state) throws(VaultError) in
            guard let connection = state.connection, state.writesInLog > 0 else { return }
            try connection.checkpoint()
            state.writesInLog = 0
        }
    }

    /// As ``checkpoint()``, when nobody waits for it: a failure costs only the space of the log.
    func tidy(onlyIfLong: Bool = false) {
        if onlyIfLong, state.withLock({ $0.writesInLog < Self.writesPerCheckpoint }) { return }
        do {
            try checkpoint()
        } catch {
            logger.warning("The vault's log could not be moved into its file; trying again later", error: error)
        }
    }

    func forgetPages() { state.withLock { $0.connection?.forgetPages() } }

    /// Safe to call twice.
    func close() {
        tidy()
        reader.close()
        state.withLock { state in
            state.connection = nil
            // Last, so that the next broker finds the file closed.
            state.claim = nil
        }
    }
}

/// The changes of one commit, with the names that the file uses.
struct WriteSet: Sendable {
    var puts: [SealedRecord]
    var deletes: [Delete]

    struct Delete: Sendable {
        var rowKey: [UInt8]
        var place: ManifestPlace
    }
}

extension SQLiteConnection {
    /// The rows that a page of the manifest covers.
    fileprivate func records(at place: ManifestPlace) throws(VaultError) -> [StoredRow] {
        let (from, before) = place.bucketKeys
        return try records(
            "bucket_key >= ?1 AND bucket_key < ?2 AND partition = ?3", .blob(from), .blob(before),
            .integer(Int64(place.partition.uid)))
    }

    /// Moves a row to the quarantine table.
    func setAside(_ row: StoredRow) throws(VaultError) {
        try run(
            """
            INSERT INTO quarantine (partition, kind, row_key, bucket_key, box)
            SELECT partition, kind, row_key, bucket_key, box FROM record WHERE id = ?1
            """, .integer(row.id))
        try run("DELETE FROM record WHERE id = ?1", .integer(row.id))
    }

    /// The number of rows in quarantine, and of rows that are known to be gone.
    func quarantined() throws(VaultError) -> (moved: Int, missing: Int) {
        (
            try integer("SELECT count(*) FROM quarantine WHERE box IS NOT NULL"),
            try integer("SELECT count(*) FROM quarantine WHERE box IS NULL")
        )
    }

    fileprivate func noteMissing(kind: UInt8, in partition: Partition) throws(VaultError) {
        try run(
            "INSERT INTO quarantine (partition, kind) VALUES (?1, ?2)", .integer(Int64(partition.uid)),
            .integer(Int64(kind)))
    }

    /// Replaces the box of a row that was read in the same transaction. A box of the same length is overwritten in place, and no
    /// index is touched: for many rows that takes a fraction of the time.
    func replaceBox(of row: StoredRow, by record: SealedRecord) throws(VaultError) {
        try run("UPDATE record SET box = ?2 WHERE id = ?1", .integer(row.id), .blob(record.box))
    }

    func put(_ record: SealedRecord) throws(VaultError) {
        try run(
            """
            INSERT INTO record (partition, kind, row_key, bucket_key, box) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (row_key) DO UPDATE SET partition = excluded.partition, kind = excluded.kind,
            bucket_key = excluded.bucket_key, box = excluded.box
            """, .integer(Int64(record.partition.uid)), .integer(Int64(record.kind.rawValue)), .blob(record.rowKey),
            .blob(record.bucketKey), .blob(record.box))
    }
}

extension VaultError {
    static let closed = VaultError.io("The vault is closed, because the broker is stopping. Start it again.")
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
