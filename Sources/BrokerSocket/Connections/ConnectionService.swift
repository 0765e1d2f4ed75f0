import BrokerModel

/// What stands above the bytes: it decides who may speak, and what is said to a peer that the bytes layer turns away.
///
/// One service serves all connections of a ``LocalListener``.
package protocol ConnectionService: Sendable {
    /// Looks at the process that connected. Called once for each connection, on a thread of its own that may wait.
    ///
    /// - Returns: nil where that makes no difference.
    func look(at peer: PeerCredentials) -> PeerSnapshot?

    /// Decides, once for each connection and before a byte of it is read, whether the peer may speak. Called on the reactor's
    /// thread.
    ///
    /// The connection may be kept; nothing can be written to it before this returns.
    ///
    /// - Parameter look: from ``look(at:)``.
    func admit(_ connection: LocalConnection, _ look: PeerSnapshot?) -> ConnectionDecision

    /// The line (newline included) that a peer is told before it is turned away; the bytes layer has no message format.
    func refusalLine(_ reason: ConnectionRefusal) -> [UInt8]
}

extension ConnectionService {
    package func look(at peer: PeerCredentials) -> PeerSnapshot? { nil }
}

package enum ConnectionDecision {
    /// - Parameter owner: whose limit the connection counts against.
    case serve(any ConnectionHandler, owner: ConnectionOwner)
    /// Writes the line (newline included) and closes.
    case refuse([UInt8])
}

/// Whose connections count together.
package struct ConnectionOwner: Sendable, Hashable {
    /// Of the user who pays.
    package var partition: Partition
    package var claimant: QuotaOwner
    /// Whether it may take one of the places that are kept for the person's own tools.
    package var mayUseReserve: Bool

    package init(_ claimant: QuotaOwner, of partition: Partition, mayUseReserve: Bool) {
        self.partition = partition
        self.claimant = claimant
        self.mayUseReserve = mayUseReserve
    }
}

/// Why the bytes layer itself ends a connection.
package enum ConnectionRefusal: Sendable, Equatable {
    /// More than `limit` bytes without a newline.
    case lineTooLong(limit: Int)
    /// The beginning of a line whose end did not come in time.
    case lineStalled(after: Duration)
    /// The peer shut its side in the middle of a line; lines before it are still answered.
    case lineCutOff
    /// A process other than the one that connected writes, and it is not the first other one, or began in the middle of a line.
    case manyWriters
    /// Descriptors came with the bytes.
    case descriptors
    /// The limit of open connections is reached: of all, or of the peer's own ones.
    case tooManyConnections(limit: Int, of: Party)

    package enum Party: Sendable { case everybody, user, program, unnamed }
}

/// Takes the lines of one connection. Lives on the reactor's thread and needs no lock: every call comes there.
///
/// The calls for one connection are: any number of `received` and `draining`, at most one `inputEnded` (no `received`
/// comes after it), and at the end exactly one `closed`.
package protocol ConnectionHandler: AnyObject {
    /// Cuts the bytes of the connection into messages: lines, where nothing else is said. Called once, before any byte is read.
    ///
    /// - Parameter limit: bytes of one message.
    func makeSplitter(limit: Int) -> any MessageSplitter

    /// One whole line without its newline.
    ///
    /// Answer at once with ``LocalConnection/write(_:)`` where that is possible; what is written during this call goes
    /// out together with the other answers of the same burst. To stop the flow (too many requests under way) call
    /// ``LocalConnection/pauseReading()``: no further line is delivered, also none that has arrived already, until
    /// ``LocalConnection/resumeReading()``.
    func received(_ line: ArraySlice<UInt8>, on connection: LocalConnection)

    /// Bytes of the process that connected were read, and no line of them was delivered yet: it may be looked at again.
    ///
    /// - Parameter thoroughly: true at most once in a second: then there is time for more than a glance.
    func heard(on connection: LocalConnection, thoroughly: Bool)

    /// From the next line on another process of the same user writes: it got the connection from the one that made it.
    func handedOn(to writer: PeerCredentials, on connection: LocalConnection)

    /// Whether the peer would miss nothing if the connection ended now: it waits for no answer and for no notification.
    var isIdle: Bool { get }

    /// The peer shut its writing side and may still read: answer what is under way, then close. Without an implementation
    /// the connection is closed as soon as everything written is sent.
    func inputEnded(on connection: LocalConnection)

    /// The peer is gone, and reads no answer. What it sent before is still delivered, when reading is not paused; after that
    /// comes `closed`.
    func peerGone(on connection: LocalConnection)

    /// The broker stops: refuse new requests, answer what is under way, then close. Without an implementation the
    /// connection is closed as soon as everything written is sent.
    func draining(on connection: LocalConnection)

    /// The connection is gone; nothing written from now on reaches anybody.
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
