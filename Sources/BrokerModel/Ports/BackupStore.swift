import BrokerValues

/// Copies of records that a passphrase opens, here or on another machine (docs/decisions/0010).
package protocol BackupStore: Sendable {
    /// Begins a copy.
    ///
    /// - Throws: if the passphrase is too short, or there is no memory to derive its key.
    func beginBackup(with passphrase: Secret, at now: NumericDate) async throws(BackupError) -> any BackupSealing

    /// Storage for an uploaded copy. It disappears when the object is released, and whenever the broker ends.
    func gatherBackup() throws(BackupError) -> any GatheredBackup
}

/// A copy that is being made. Sealed bytes wait until they are taken.
package protocol BackupSealing: Sendable {
    func append<Record: VaultRecord>(_ record: Record, secret: Secret?) throws(BackupError)

    /// Without it the copy is not accepted as complete.
    func finish() throws(BackupError)

    /// The number of waiting bytes.
    var waiting: Int { get }

    func take(atMost count: Int) -> [UInt8]
}

/// An uploaded copy, not checked yet.
package protocol GatheredBackup: Sendable {
    /// In bytes.
    var count: Int { get }

    func append(_ bytes: [UInt8]) throws(BackupError)

    /// - Throws: if it is not a copy, or the passphrase is wrong. The reader checks everything after the header.
    func open(with passphrase: Secret) async throws(BackupError) -> any OpenedBackup
}

package protocol OpenedBackup: Sendable {
    /// A pass from the first record to the last.
    func reader() throws(BackupError) -> any BackupReading
}

package protocol BackupReading: Sendable {
    /// - Returns: nil after the last record, and only if the whole copy is genuine up to its very end.
    func next() throws(BackupError) -> BackupItem?
}

/// One record of a copy, with its secret.
package enum BackupItem: Sendable {
    /// The copy's description of itself; always the first item.
    case beginning(createdOn: NumericDate)
    case app(AppRecord, Secret?)
    case account(AccountRecord)
    case signOut(SignOutRecord)
    case appMetadata(AppMetadataRecord)
    case refreshToken(RefreshTokenRecord, Secret)
    case idToken(IDTokenRecord, Secret)
    case proofKey(ProofKeyRecord, Secret)
    /// Genuine, but not in a form that this version of the broker writes.
    case unknown
}

/// Why a copy cannot be made or read. Texts are for people, and give the next step.
package enum BackupError: Error, Sendable, Equatable {
    case notABackup
    /// According to its first bytes, which may be damaged as well.
    case newerFormat(found: Int, supported: Int)
    /// The header does not match the passphrase.
    case wrongPassphrase
    case shortPassphrase(atLeast: Int)
    /// Something in it was changed or moved.
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
        case .notABackup: "This is not a backup of the broker; name a file that brokerctl cache export wrote."
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
        case .tooLarge(let limit): "A backup has at most \(limit >> 20) MiB; this is not a backup of one user."
        case .full(let text), .io(let text): text
        }
    }
}
