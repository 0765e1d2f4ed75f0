/// What the database file holds, and how it is known.
enum VaultFormat {
    /// Goes up when rows or header change their meaning; part of the associated data of everything that is sealed.
    static let current = 2
    /// The oldest that is still read: it is brought to the current one at the first start.
    static let oldest = 1
    /// SQLite's application id: "TkBr".
    static let applicationID = 0x546B_4272

    static let fileName = "vault.db"
    static let logName = "vault.db-wal"
    /// What SQLite may read or write beside a database, by the end of its name.
    static let sideSuffixes = ["-wal", "-shm", "-journal"]
    static var sideFiles: [String] { sideSuffixes.map { fileName + $0 } }

    /// A vault has exactly these objects. One more could be a trigger that somebody put there.
    static func schema(of format: Int) -> [String] { format == 1 ? first : first + manifest }

    /// What is not in format 1: for each partition and for the whole (as a partition that cannot be) a sealed list of what
    /// there is. A page's id is its partition times 256, plus its number.
    static let manifest = [
        "CREATE TABLE manifest (partition INTEGER PRIMARY KEY, box BLOB NOT NULL) STRICT",
        "CREATE TABLE manifest_page (id INTEGER PRIMARY KEY, box BLOB NOT NULL) STRICT",
    ]

    private static let first = [
        "CREATE TABLE header (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE partition_key (partition INTEGER PRIMARY KEY, wrapped BLOB NOT NULL) STRICT",
        """
        CREATE TABLE record (id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, kind INTEGER NOT NULL, \
        row_key BLOB NOT NULL UNIQUE, bucket_key BLOB NOT NULL, box BLOB NOT NULL) STRICT
        """,
        "CREATE INDEX record_by_bucket ON record (bucket_key)",
        "CREATE INDEX record_by_kind ON record (partition, kind)",
        // Damaged rows as they were found; columns without types, because they may hold anything. One without a box stands
        // for a row that is gone.
        "CREATE TABLE quarantine (id INTEGER PRIMARY KEY, partition, kind, row_key, bucket_key, box)",
    ]
}
