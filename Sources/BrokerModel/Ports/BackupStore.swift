import BrokerValues

/// Copies of records that a passphrase opens, here or on another machine (docs/decisions/0047).
package protocol BackupStore: Sendable {
    /// Begins a copy.
    ///
    /// - Throws: for a passphrase that is too short, and where there is no memory to make a key of it.
    func beginBackup(with passphrase: Secret, at now: NumericDate) async throws(BackupError) -> any BackupSealing

    /// Room for a copy that comes in parts. It is gone when it is let go, and when the broker ends, however that ends.
    func gatherBackup() throws(BackupError) -> any GatheredBackup
}

/// A copy that is being made. What is sealed waits until it is taken.
package protocol BackupSealing: Sendable {
    func append<Record: VaultRecord>(_ record: Record, secret: Secret?) throws(BackupError)

    /// Without it nobody takes the copy for whole.
    func finish() throws(BackupError)

    /// How many bytes wait.
    var waiting: Int { get }

    func take(atMost count: Int) -> [UInt8]
}

/// A copy as it came, of which nothing is known yet.
package protocol GatheredBackup: Sendable {
    /// Bytes.
    var count: Int { get }

    func append(_ bytes: [UInt8]) throws(BackupError)

    /// - Throws: for what is no copy, and for a wrong passphrase. What comes after the beginning is looked at by the reader.
    func open(with passphrase: Secret) async throws(BackupError) -> any OpenedBackup
}

package protocol OpenedBackup: Sendable {
    /// A pass from the first record to the last.
    func reader() throws(BackupError) -> any BackupReading
}

package protocol BackupReading: Sendable {
    /// - Returns: nil after the last record, and only where the whole copy is genuine up to its very end.
    func next() throws(BackupError) -> BackupItem?
}

/// One record of a copy, with its secret.
package enum BackupItem: Sendable {
    /// What the copy says of itself; always the first.
    case beginning(createdOn: NumericDate)
    case app(AppRecord, Secret?)
    case account(AccountRecord)
    case signOut(SignOutRecord)
    case appMetadata(AppMetadataRecord)
    case refreshToken(RefreshTokenRecord, Secret)
    case idToken(IDTokenRecord, Secret)
    case proofKey(ProofKeyRecord, Secret)
    /// Genuine, but not as this version of the broker writes it.
    case unknown
}

/// Why a copy cannot be made or read. Texts are for people, and say what to do next.
package enum BackupError: Error, Sendable, Equatable {
    case notABackup
    /// By its first bytes, which may be damaged as well.
    case newerFormat(found: Int, supported: Int)
    /// The beginning and the passphrase do not belong together.
    case wrongPassphrase
    case shortPassphrase(atLeast: Int)
    /// Something in it was changed, or stands in another place.
    case damaged
    /// The end is missing.
    case truncated
    case tooLarge(limit: Int)
    case full(String)
    case io(String)
}

extension BackupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notABackup: "This is no backup of the broker; name a file that brokerctl cache export wrote."
        case .newerFormat(let found, let supported):
            "The backup has format \(found), of a later version of the broker; this one reads up to \(supported). Install "
                + "the later version, or take another copy of the file if this one may be damaged."
        case .wrongPassphrase:
            "The passphrase does not open the backup; try again. If it is the right one, the file's first bytes are damaged: "
                + "take another copy of it."
        case .shortPassphrase(let least): "A backup's passphrase has at least \(least) characters; choose a longer one."
        case .damaged:
            "The passphrase is right, but the backup is damaged or was changed; nothing was imported. Take another copy of it."
        case .truncated:
            "The passphrase is right, but the end of the backup is missing; nothing was imported. Take a whole copy of it."
        case .tooLarge(let limit): "A backup has at most \(limit >> 20) MiB; this is none, or not one of one person's."
        case .full(let text), .io(let text): text
        }
    }
}
