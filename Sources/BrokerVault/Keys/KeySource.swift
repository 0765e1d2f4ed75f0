import BrokerModel

/// Where the key-encryption key comes from: a file, a systemd credential, the Secret Service, a passphrase.
///
/// The vault records the name of the source that made it, and opens with no other: whoever can change the configuration
/// must not be able to move the vault to a weaker source unseen.
package protocol KeySource: Sendable {
    /// Recorded in the vault and shown by `broker.status`; never reuse one for something else.
    var name: String { get }

    /// The key for a vault that is about to be made.
    ///
    /// A key which an interrupted first start left behind is used again.
    /// - Parameter vaultID: 16 random bytes; tells apart keys of several vaults in one place.
    func makeKey(for vaultID: [UInt8]) async throws(VaultError) -> MadeKey

    /// The key of an existing vault. Never makes one: a vault whose key is gone must say so.
    /// - Parameter parameters: what ``makeKey(for:)`` returned beside the key.
    func key(for vaultID: [UInt8], parameters: [UInt8]) async throws(VaultError) -> Secret
}

package struct MadeKey: Sendable {
    /// ``keyByteCount`` bytes.
    package var key: Secret
    /// What the source needs to find or derive the key again (a salt, costs, an item's id); kept in the clear.
    package var parameters: [UInt8]

    package init(key: Secret, parameters: [UInt8] = []) {
        self.key = key
        self.parameters = parameters
    }
}

/// Length of key-encryption keys and data keys.
package let keyByteCount = 32
