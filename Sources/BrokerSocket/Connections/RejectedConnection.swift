/// Sends a peer the reason why it is refused and makes sure that the peer can read it.
///
/// A socket that is closed with unread bytes of the peer makes the peer's next write fail, and many programs then never read. So
/// the writing side is shut first, and further bytes of the peer are dropped until it hangs up, for a moment at most.
final class RejectedConnection: SocketStreamOwner {
    private let stream: SocketStream
    private let table: ConnectionTable
    private let isLingering: Bool
    /// The owner whose slot it keeps until it is closed.
    private let owner: ConnectionOwner?
    private var timer: ReactorTimer?

    private init(_ stream: SocketStream, table: ConnectionTable, of owner: ConnectionOwner?) {
        self.stream = stream
        self.table = table
        self.owner = owner
        isLingering = table.lingering.enter()
    }

    /// - Parameters:
    ///   - line: newline included; may be empty.
    ///   - owner: the owner whose slot was kept for it, if closing can take long; the slot is released when it is closed.
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
        if isLingering { table.lingering.leave() }
        if let owner { table.leavePlace(of: owner) }
    }
}
