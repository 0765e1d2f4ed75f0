import BrokerModel

/// Where the key-encryption key comes from: a file, a systemd credential, the Secret Service, a passphrase.
///
/// The vault records the name of the source that made it, and opens with no other: whoever can change the configuration
/// must not be able to move the vault to a weaker source unseen.
package protocol KeySource: Sendable {
    /// Recorded in the vault and shown by `broker.status`; never reuse one for something else.
    var name: String { get }

    /// Whether the machine has it now. Quick, and asks nobody.
    func isAvailable() async -> Bool

    /// A key for a vault that is about to be made, or gets its key from here from now on.
    ///
    /// A key which an interrupted attempt left behind is used again.
    /// - Parameters:
    ///   - vaultID: 16 random bytes; tells apart keys of several vaults in one place.
    ///   - passphrase: a person's, if one was given.
    func makeKey(for vaultID: [UInt8], passphrase: Secret?) async throws(VaultError) -> NewKey

    /// The key of an existing vault. Never makes one: a vault whose key is gone must say so.
    ///
    /// - Parameter parameters: what ``makeKey(for:passphrase:)`` returned beside the key.
    /// - Throws: ``VaultError/awaitingKey(_:)`` when it is there but has to be opened first.
    func key(for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?) async throws(VaultError) -> Secret

    /// As above, for sources that other programs keep.
    func makeKey(for vaultID: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt) async throws(VaultError) -> NewKey

    func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> Secret

    /// Says when a key that has to be waited for may have come; ends where that is never known.
    func changes() -> AsyncStream<Void>

    /// Whether there is a key of that vault here. Asks nobody.
    func keepsKey(of vaultID: [UInt8]) async -> Bool

    /// The vault has been opened with the key from here.
    func didUnlock(with vaultID: [UInt8]) async

    /// The vault has its key from elsewhere from now on. Whatever goes wrong, the key that stays behind opens old copies only.
    func discardKey(of vaultID: [UInt8], parameters: [UInt8]) async

    /// What it means that the key from here is not the vault's.
    ///
    /// - Parameter isTyped: whether it was made of a passphrase that a person gave.
    func mismatch(_ vaultPath: String, isTyped: Bool) -> VaultError
}

extension KeySource {
    package func isAvailable() async -> Bool { true }

    package func makeKey(for vaultID: [UInt8], passphrase: Secret?) async throws(VaultError) -> NewKey {
        try await makeKey(for: vaultID, passphrase: passphrase, .atStart)
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?
    ) async throws(VaultError) -> Secret {
        try await key(for: vaultID, parameters: parameters, passphrase: passphrase, .atStart)
    }

    package func makeKey(
        for vaultID: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> NewKey {
        try await makeKey(for: vaultID, passphrase: passphrase)
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> Secret {
        try await key(for: vaultID, parameters: parameters, passphrase: passphrase)
    }

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
    /// What the source needs to find or derive the key again (a salt, costs, an item's id); kept in the clear.
    package var parameters: [UInt8]

    package init(key: Secret, parameters: [UInt8] = []) {
        self.key = key
        self.parameters = parameters
    }
}

/// Length of key-encryption keys and data keys.
package let keyByteCount = 32
