/// Tells a peer why it is turned away and makes sure that it can hear it.
///
/// A socket that is closed while bytes of the peer wait unread makes the peer's next write fail, and many programs then
/// never read. So the writing side is shut first, and what the peer still sends is dropped until it hangs up, for a
/// moment at most.
final class RefusedPeer: SocketStreamOwner {
    private let stream: SocketStream
    private let table: LineTable
    private let isLingering: Bool
    private var timer: ReactorTimer?

    private init(_ stream: SocketStream, table: LineTable) {
        self.stream = stream
        self.table = table
        isLingering = table.beginLingering()
    }

    /// - Parameter line: newline included; empty says nothing.
    static func dismiss(_ stream: SocketStream, saying line: [UInt8], limits: LineLimits, table: LineTable) {
        let peer = RefusedPeer(stream, table: table)
        stream.serve(peer, wantsInput: true)
        peer.timer = stream.reactor.schedule(after: limits.linger) { stream.close() }
        stream.write(line)
        stream.closeOutput()
    }

    func received(_ bytes: UnsafeRawBufferPointer, _ beside: BytesBeside) {}

    func outputEnded() {
        if !isLingering { stream.close() }
    }

    func inputEnded() { stream.close() }

    func ended() {
        stream.reactor.cancel(timer)
        if isLingering { table.endLingering() }
    }
}
