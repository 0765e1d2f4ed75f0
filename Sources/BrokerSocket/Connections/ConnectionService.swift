import BrokerModel

/// The layer above the bytes: it decides which peers are served, and what a peer refused by the socket layer is sent.
///
/// One service serves all connections of a ``LocalListener``.
package protocol ConnectionService: Sendable {
    /// Inspects the process that connected. Called once for each connection, on a thread of its own that may wait.
    ///
    /// - Returns: `nil` if the result makes no difference.
    func look(at peer: PeerCredentials) -> PeerSnapshot?

    /// Decides, once for each connection and before a byte of it is read, whether the peer is served. Called on the reactor's thread.
    ///
    /// The connection may be kept; nothing can be written to it before this returns.
    ///
    /// - Parameter look: the result of ``look(at:)``.
    func admit(_ connection: LocalConnection, _ look: PeerSnapshot?) -> ConnectionDecision

    /// The line (newline included) for a peer before it is refused; the socket layer has no message format.
    func refusalLine(_ reason: ConnectionRefusal) -> [UInt8]
}

extension ConnectionService {
    package func look(at peer: PeerCredentials) -> PeerSnapshot? { nil }
}

package enum ConnectionDecision {
    /// - Parameter owner: the owner whose limit the connection counts against.
    case serve(any ConnectionHandler, owner: ConnectionOwner)
    /// Writes the line (newline included) and closes.
    case refuse([UInt8])
}

/// The owner of connections that count together.
package struct ConnectionOwner: Sendable, Hashable {
    /// The partition of the user whose quota counts.
    package var partition: Partition
    package var claimant: QuotaOwner
    /// Whether it may take one of the slots reserved for the person's own tools.
    package var mayUseReserve: Bool

    package init(_ claimant: QuotaOwner, of partition: Partition, mayUseReserve: Bool) {
        self.partition = partition
        self.claimant = claimant
        self.mayUseReserve = mayUseReserve
    }
}

/// Why the socket layer itself ends a connection.
package enum ConnectionRefusal: Sendable, Equatable {
    /// More than `limit` bytes without a newline.
    case lineTooLong(limit: Int)
    /// The beginning of a line whose end did not come in time.
    case lineStalled(after: Duration)
    /// The peer shut its side in the middle of a line; lines before it are still answered.
    case lineCutOff
    /// A process other than the one that connected writes, and is not the first such, or began in the middle of a line.
    case manyWriters
    /// Descriptors came with the bytes.
    case descriptors
    /// The limit of open connections is reached: of all, or of the peer's own ones.
    case tooManyConnections(limit: Int, of: Party)

    package enum Party: Sendable { case everybody, user, program, unnamed }
}

/// Handles the lines of one connection. Lives on the reactor's thread and needs no lock: every call comes there.
///
/// The calls for one connection are: any number of `received` and `draining`, at most one `inputEnded` (no `received` comes after
/// it), and at the end exactly one `closed`.
package protocol ConnectionHandler: AnyObject {
    /// Cuts the bytes of the connection into messages: lines by default. Called once, before any byte is read.
    ///
    /// - Parameter limit: the largest message in bytes.
    func makeSplitter(limit: Int) -> any MessageSplitter

    /// One whole line without its newline.
    ///
    /// Answer at once with ``LocalConnection/write(_:)`` if possible; lines written during this call go out together with the
    /// other answers of the same burst. To stop the flow (too many requests in progress) call ``LocalConnection/pauseReading()``:
    /// no further line is delivered, not even one that has arrived already, until ``LocalConnection/resumeReading()``.
    func received(_ line: ArraySlice<UInt8>, on connection: LocalConnection)

    /// Bytes of the process that connected were read, and no line of them was delivered yet: it may be inspected again.
    ///
    /// - Parameter thoroughly: true at most once per second: then there is time for a full inspection.
    func heard(on connection: LocalConnection, thoroughly: Bool)

    /// From the next line on another process of the same user writes: it got the connection from the one that made it.
    func handedOn(to writer: PeerCredentials, on connection: LocalConnection)

    /// Whether the peer would miss nothing if the connection ended now: it waits for no answer and for no notification.
    var isIdle: Bool { get }

    /// The peer shut its writing side and may still read: answer requests in progress, then close. By default the connection is
    /// closed as soon as everything written is sent.
    func inputEnded(on connection: LocalConnection)

    /// The peer is gone, and reads no answer. Lines sent before are still delivered if reading is not paused; after that comes `closed`.
    func peerGone(on connection: LocalConnection)

    /// The broker stops: refuse new requests, answer those in progress, then close. By default the connection is closed as soon
    /// as everything written is sent.
    func draining(on connection: LocalConnection)

    /// The connection is gone; later writes have no effect.
    func closed(_ connection: LocalConnection)
}

extension ConnectionHandler {
    package func makeSplitter(limit: Int) -> any MessageSplitter { LineSplitter(limit: limit) }
    package var isIdle: Bool { false }
    package func heard(on connection: LocalConnection, thoroughly: Bool) {}
    package func inputEnded(on connection: LocalConnection) { connection.close() }
    package func peerGone(on connection: LocalConnection) {}
    package func draining(on connection: LocalConnection) { connection.close() }
}
