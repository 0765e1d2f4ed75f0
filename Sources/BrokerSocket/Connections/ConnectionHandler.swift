import BrokerModel

/// Handles the lines of the connection that it was made for. Lives on the reactor's thread and needs no lock: every call comes
/// there.
///
/// The calls are: any number of `received` and `draining`, at most one `inputEnded` (no `received` comes after it), and at the end
/// exactly one `closed`.
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
    func received(_ line: ArraySlice<UInt8>)

    /// Bytes of the process that connected were read, and no line of them was delivered yet: it may be inspected again.
    ///
    /// - Parameter thoroughly: true at most once per second: then there is time for a full inspection.
    func heard(thoroughly: Bool)

    /// From the next line on another process of the same user writes: it got the connection from the one that made it.
    func handedOn(to writer: PeerCredentials)

    /// Whether the peer would miss nothing if the connection ended now: it waits for no answer and for no notification.
    var isIdle: Bool { get }

    /// The peer shut its writing side and may still read: answer requests in progress, then close the connection.
    func inputEnded()

    /// The peer is gone, and reads no answer. Lines sent before are still delivered if reading is not paused; after that comes `closed`.
    func peerGone()

    /// The broker stops: refuse new requests, answer those in progress, then close the connection.
    func draining()

    /// The connection is gone, or got no slot; later writes have no effect.
    func closed()

    /// The message (delimiter included) that the peer is sent when the socket layer ends its connection or cuts off its input: that
    /// layer has no message format.
    func refusal(_ reason: ConnectionRefusal) -> [UInt8]
}

extension ConnectionHandler {
    package func makeSplitter(limit: Int) -> any MessageSplitter { LineSplitter(limit: limit) }
    package func heard(thoroughly: Bool) {}
}
