/// Tells a peer why it is turned away and makes sure that it can hear it.
///
/// A socket that is closed while bytes of the peer wait unread makes the peer's next write fail, and many programs then
/// never read. So the writing side is shut first, and what the peer still sends is dropped until it hangs up, for a
/// moment at most.
final class RejectedConnection: SocketStreamOwner {
    private let stream: SocketStream
    private let table: ConnectionTable
    private let isLingering: Bool
    /// Whose place it keeps until it is closed.
    private let owner: ConnectionOwner?
    private var timer: ReactorTimer?

    private init(_ stream: SocketStream, table: ConnectionTable, of owner: ConnectionOwner?) {
        self.stream = stream
        self.table = table
        self.owner = owner
        isLingering = table.beginLingering()
    }

    /// - Parameters:
    ///   - line: newline included; empty says nothing.
    ///   - owner: whose place was kept for it, where closing it can take long; it leaves the place when it is closed.
    static func close(
        _ stream: SocketStream, saying line: [UInt8], limits: ConnectionLimits, table: ConnectionTable,
        keepingPlaceOf owner: ConnectionOwner? = nil
    ) {
        let peer = RejectedConnection(stream, table: table, of: owner)
        stream.serve(peer, wantsInput: true)
        peer.timer = stream.reactor.schedule(after: limits.linger) { stream.close() }
        stream.write(line)
        stream.closeOutput()
    }

    func received(_ bytes: UnsafeRawBufferPointer, _ writer: ByteWriter) {}

    func outputEnded() {
        if !isLingering { stream.close() }
    }

    func inputEnded() { stream.close() }

    func ended() {
        stream.reactor.cancel(timer)
        if isLingering { table.endLingering() }
        if let owner { table.leavePlace(of: owner) }
    }
}
