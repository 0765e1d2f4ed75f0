import BrokerValues

/// The keys of the encrypted cache: whether they are at hand, and where they come from.
package protocol VaultKeys: Sendable {
    /// While it is, every read of a secret ends with ``VaultError/locked``.
    var isLocked: Bool { get }

    /// Drops every key from memory. What is sealed already can still be committed.
    func lock()

    /// Fetches the key from its source. - Parameter passphrase: for the one source that asks a person.
    func unlock(passphrase: Secret?) async throws(VaultError)

    /// As ``unlock(passphrase:)`` while nobody waits: nobody is asked.
    func unlockUnasked() async throws(VaultError)

    /// Says when a key that has to be waited for may have come; ends where that is never known.
    func keyChanges() -> AsyncStream<Void>

    func keyStatus() async -> KeyStatus

    /// The key comes from another source from now on, or is a new one of the same. The records stay as they are.
    ///
    /// - Throws: when nothing was changed.
    func setKeySource(_ name: String, passphrase: Secret?, at now: NumericDate) async throws(VaultError)

    /// One more source that opens the vault, beside the one that it has: a passphrase for another machine, above all. It takes the
    /// place of one of that name, and ends with ``setKeySource(_:passphrase:at:)``.
    func addKeySource(_ name: String, passphrase: Secret?) async throws(VaultError)

    /// One source less of those that were added.
    func removeKeySource(_ name: String) async throws(VaultError)

    /// New data keys, which are on disk when this returns. The records are sealed anew with them afterwards, in the background
    /// and across restarts; they can be read all the time.
    func replaceDataKeys(at now: NumericDate) async throws(VaultError)
}

package struct KeyStatus: Sendable, Equatable {
    package var source: String
    /// What opens the vault besides.
    package var added: [String]
    /// Nil where the vault does not say.
    package var wrappedOn: NumericDate?
    /// The sources that the key could come from here and now, as configured.
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
