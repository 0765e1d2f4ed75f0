import BrokerValues

/// Why an operation of the vault failed. Texts are for people: they name files and codes, never contents, and give the next step.
/// One reference, as ``BrokerValues/BrokerError``.
package indirect enum VaultError: Error, Sendable, Equatable {
    /// No space, quota or a size limit: the change is still in memory, and trying again later makes sense.
    case full(String)
    /// Any other failed read or write.
    case io(String)
    /// The file is not a vault, or not a whole one.
    case damaged(String)
    /// The key of an earlier vault exists, but its file does not.
    case missing(String)
    /// Made by a later version of the broker.
    case newerFormat(found: Int, supported: Int)
    /// The key does not open this vault.
    case wrongKey(String)
    /// The key is unavailable: missing, unreadable, or readable by others.
    case keyUnavailable(String)
    /// The key needs something that is not available yet (a passphrase, an unlocked keyring): the vault stays locked until then.
    case awaitingKey(String)
    case wrongPassphrase
    /// An impossible request: an unknown key source, a short passphrase.
    case unsuitable(String)
    /// The directory or file belongs to another user, is open to others, or is a link.
    case notPrivate(String)
    /// Another broker uses the same directory.
    case inUse(String)
    /// There are two vaults, and only the user knows which one counts.
    case ambiguous(String)
    case locked
    /// A record that does not open.
    case recordDamaged
    /// The record was sealed for a partition that was erased before the record could be written.
    case erased
}

extension BrokerError {
    /// The error for requests that need a key, while there is none.
    package static let locked = BrokerError(.locked, VaultError.locked.description)
}

extension VaultError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .full(let text), .io(let text), .damaged(let text), .wrongKey(let text), .keyUnavailable(let text),
            .awaitingKey(let text), .unsuitable(let text), .notPrivate(let text), .inUse(let text),
            .ambiguous(let text), .missing(let text):
            text
        case .newerFormat(let found, let supported):
            "The vault has format \(found), made by a later version of the broker; this one reads up to \(supported). "
                + "Install the later version again."
        case .wrongPassphrase: "This is not the vault's passphrase; try again with brokerctl unlock."
        case .locked: "The broker is locked; unlock it with brokerctl unlock."
        case .recordDamaged: "A record of the vault is damaged and was set aside. Sign in again to replace it."
        case .erased: "The records of this user were removed meanwhile, so the change was not kept. Try again."
        }
    }
}
