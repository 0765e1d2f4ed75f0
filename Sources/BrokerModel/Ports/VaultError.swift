import BrokerValues

/// Why the vault could not do it. Texts are for people: they name files and codes, never contents, and say what to do next.
/// One reference, as ``BrokerValues/BrokerError``.
package indirect enum VaultError: Error, Sendable, Equatable {
    /// No space, quota or a size limit: memory still has what was to be written, and trying again later makes sense.
    case full(String)
    /// Any other failed read or write.
    case io(String)
    /// The file is not a vault, or not all of one.
    case damaged(String)
    /// There was a vault here, its key is still there, and the file is not.
    case missing(String)
    /// Made by a later version of the broker.
    case newerFormat(found: Int, supported: Int)
    /// The key does not open this vault.
    case wrongKey(String)
    /// The key cannot be had: missing, unreadable, too openly readable.
    case keyUnavailable(String)
    /// The key needs something that is not there yet (a passphrase, an unlocked keyring): the vault stays locked until then.
    case awaitingKey(String)
    case wrongPassphrase
    /// Directory or file belongs to somebody else, is open to others, or is a link.
    case notPrivate(String)
    /// Another broker works on the same directory.
    case inUse(String)
    /// There are two vaults, and only the person knows which one counts.
    case ambiguous(String)
    case locked
    /// One record that does not open.
    case recordDamaged
}

extension BrokerError {
    /// What needs a key is answered with, while there is none.
    package static let locked = BrokerError(.locked, VaultError.locked.description)
}

extension VaultError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .full(let text), .io(let text), .damaged(let text), .wrongKey(let text), .keyUnavailable(let text),
            .awaitingKey(let text), .notPrivate(let text), .inUse(let text),
            .ambiguous(let text), .missing(let text):
            text
        case .newerFormat(let found, let supported):
            "The vault has format \(found), made by a later version of the broker; this one reads up to \(supported). "
                + "Install the later version again."
        case .wrongPassphrase: "This is not the vault's passphrase; try again with brokerctl unlock."
        case .locked: "The broker is locked; unlock it with brokerctl unlock."
        case .recordDamaged: "A record of the vault is damaged and was set aside. Sign in again to replace it."
        }
    }
}
