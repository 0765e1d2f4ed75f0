import BrokerValues

/// The keys of the encrypted cache: whether they are available, and their sources.
package protocol VaultKeys: Sendable {
    /// While it is locked, every read of a secret throws ``VaultError/locked``.
    var isLocked: Bool { get }

    /// Drops every key from memory. Records that are sealed already can still be committed.
    func lock()

    /// Fetches the key from its source. - Parameter passphrase: for the one source that prompts a user.
    func unlock(passphrase: Secret?) async throws(VaultError)

    /// As ``unlock(passphrase:)``, but without a waiting user: nobody is prompted.
    func unlockUnasked() async throws(VaultError)

    /// Yields when an awaited key may have become available; ends if the source cannot know.
    func keyChanges() -> AsyncStream<Void>

    func keyStatus() async -> KeyStatus

    /// Moves the key to another source, or makes a new one of the same. The records stay as they are.
    ///
    /// - Throws: if nothing was changed.
    func setKeySource(_ name: String, passphrase: Secret?, at now: NumericDate) async throws(VaultError)

    /// Adds a source that also opens the vault: mainly a passphrase for another machine. It replaces one of that name, and is
    /// removed by ``setKeySource(_:passphrase:at:)``.
    func addKeySource(_ name: String, passphrase: Secret?) async throws(VaultError)

    /// Removes an added source.
    func removeKeySource(_ name: String) async throws(VaultError)

    /// Makes new data keys, which are on disk when this returns. The records are resealed with them afterwards, in the background
    /// and across restarts; they stay readable.
    func replaceDataKeys(at now: NumericDate) async throws(VaultError)
}

package struct KeyStatus: Sendable, Equatable {
    package var source: String
    /// Further sources that open the vault.
    package var added: [String]
    /// `nil` if the vault does not record it.
    package var wrappedOn: NumericDate?
    /// The configured sources that could provide the key here and now.
    package var available: [String]
    /// Whether records are still sealed with a former data key.
    package var isResealing: Bool

    package init(
        source: String, added: [String] = [], wrappedOn: NumericDate?, available: [String], isResealing: Bool
    ) {
        self.source = source
        self.added = added
        self.wrappedOn = wrappedOn
        self.available = available
        self.isResealing = isResealing
    }
}
