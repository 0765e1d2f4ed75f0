import BrokerModel

/// The source of the key-encryption key: a file, a systemd credential, the Secret Service, a passphrase.
///
/// The vault records the name of the source that made its key, and opens with no other: an attacker who can change the
/// configuration must not be able to move the vault to a weaker source unseen.
package protocol KeySource: Sendable {
    /// Recorded in the vault and shown by `broker.status`; never reuse a name for another source.
    var name: String { get }

    /// Whether the machine has it now. Quick, and prompts nobody.
    func isAvailable() async -> Bool

    /// A key for a vault that is about to be created or moved to this source.
    ///
    /// Reuses a key that an interrupted attempt left behind.
    /// - Parameters:
    ///   - vaultID: 16 random bytes; distinguishes keys of several vaults in one place.
    ///   - passphrase: the user's, if given.
    ///   - attempt: for a source that another program keeps.
    func makeKey(for vaultID: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt) async throws(VaultError) -> NewKey

    /// The key of an existing vault. Never makes one: a vault without its key must report that.
    ///
    /// - Parameter parameters: the parameters that ``makeKey(for:passphrase:_:)`` returned with the key.
    /// - Throws: ``VaultError/awaitingKey(_:)`` if the key exists but has to be unlocked first.
    func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> Secret

    /// Yields when an awaited key may have become available; ends if the source cannot know.
    func changes() -> AsyncStream<Void>

    /// Whether this source has a key of that vault. Prompts nobody.
    func keepsKey(of vaultID: [UInt8]) async -> Bool

    /// Called when the vault has been opened with the key from this source.
    func didUnlock(with vaultID: [UInt8]) async

    /// Called when the vault has moved to another source. If this fails, the remaining key opens old copies only.
    func discardKey(of vaultID: [UInt8], parameters: [UInt8]) async

    /// The error if the key from this source is not the vault's.
    ///
    /// - Parameter isTyped: whether it was derived from a passphrase that the user gave.
    func mismatch(_ vaultPath: String, isTyped: Bool) -> VaultError
}

extension KeySource {
    package func isAvailable() async -> Bool { true }

    package func changes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    package func keepsKey(of vaultID: [UInt8]) async -> Bool { false }

    package func didUnlock(with vaultID: [UInt8]) async {}

    package func discardKey(of vaultID: [UInt8], parameters: [UInt8]) async {}

    package func mismatch(_ vaultPath: String, isTyped: Bool) -> VaultError {
        .wrongKey(
            "The key from \(name) is not the one that \(vaultPath) was made with. "
                + "Put back the key that belongs to it; nothing was changed.")
    }
}

package struct NewKey: Sendable {
    /// ``keyByteCount`` bytes.
    package var key: Secret
    /// The source's parameters for finding or deriving the key again (a salt, costs, an item's id); kept in the clear.
    package var parameters: [UInt8]

    package init(key: Secret, parameters: [UInt8] = []) {
        self.key = key
        self.parameters = parameters
    }
}

/// Length of key-encryption keys and data keys.
package let keyByteCount = 32
