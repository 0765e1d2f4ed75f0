import BrokerModel

/// The place of the vault's rows (docs/decisions/0040).
///
/// The vault names, seals and lists rows, and finds out whether they are those of the last commit. A store has no key and judges
/// nothing: it returns bytes as it finds them, which somebody may have tampered with.
///
/// Every text of an error says what to do:
/// - ``VaultError/full(_:)``: there is no room. The vault tries again after the next commit.
/// - ``VaultError/damaged(_:)`` and ``VaultError/newerFormat(found:supported:)``: the store is not a whole vault of a known format.
/// - ``VaultError/closed``: before ``open()`` or after ``close()``.
/// - ``VaultError/io(_:)`` and ``VaultError/notPrivate(_:)``: everything else.
package protocol RowStore: Sendable {
    /// Names the place to people.
    var path: String { get }

    /// The room that it takes, for all partitions together.
    var byteCount: Int { get }

    /// - Throws: if only a part of a vault exists: an empty one in its place would hide the loss.
    func exists() throws(VaultError) -> Bool

    /// Makes an empty vault of the current format, whole or not at all.
    func make(_ header: [String: [UInt8]]) throws(VaultError)

    /// Examines an existing vault as far as possible without its key, and changes nothing: the key may turn out to be wrong.
    func examine() throws(VaultError) -> (format: Int, header: [String: [UInt8]])

    /// Prepares an examined vault for ``read(_:)`` and ``write(_:)``. Nobody else may write to it until ``close()``.
    func open() throws(VaultError)

    /// Reads one moment: what was durable when the first row was read. A snapshot does not wait for a transaction under way, and
    /// sees neither that one nor later ones. Any thread; snapshots may wait for each other.
    func read<Result: Sendable>(
        _ body: @Sendable (any RowSnapshot) throws(VaultError) -> Result
    ) throws(VaultError) -> Result

    /// Changes rows, one transaction at a time. It sees its own changes. When this returns, all of them are durable; when it
    /// throws, in `body` or afterwards, there are none.
    ///
    /// A store that several brokers write to lets a transaction wait, or fail with ``VaultError/io(_:)``, from the moment that it
    /// reads a partition's manifest that another one has replaced: rows of a partition never change without its manifest.
    func write<Result: Sendable>(
        _ body: @Sendable (any RowTransaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result

    /// Whether enough was written since the last ``checkpoint()`` to make the next one now, under constant writing.
    var isCheckpointDue: Bool { get }

    /// From then on, the place has no copies of removed and replaced rows any more.
    func checkpoint() throws(VaultError)

    /// Gives memory back that the next reads and writes take again.
    func trim()

    /// Safe to call twice. Not needed for durability.
    func close()
}

extension VaultError {
    package static let closed = VaultError.io("The vault is closed, because the broker is stopping. Start it again.")
}
