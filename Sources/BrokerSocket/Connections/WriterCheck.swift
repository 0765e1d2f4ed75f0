import BrokerModel
import BrokerSystem

/// The process that writes on a connection: the one that made it, or one other that it was handed on to.
struct WriterCheck {
    enum Verdict {
        /// The process that connected, or that the connection was handed on to before.
        /// - thoroughly: whether there is time for a full inspection: at most once per second.
        case known(thoroughly: Bool)
        case handedOn(to: PeerCredentials)
        /// A second other process, one of another user, or one that began in the middle of a line.
        case refused
    }

    private static let lookInterval = Duration.seconds(1)
    /// When the writer may be inspected thoroughly again.
    private var looksAt: MonotonicInstant
    /// `nil` while the process that connected writes.
    private var successor: (named: ByteWriter, process: PeerProcess?)?

    init(since now: MonotonicInstant) { looksAt = now + Self.lookInterval }

    /// A process that got the connection after it was made counts by its own identity.
    mutating func judge(
        _ writer: ByteWriter, onConnectionOf peer: PeerCredentials, isInLine: Bool, at now: MonotonicInstant
    ) -> Verdict {
        // While the process that connected lives, no other process has its number.
        let isPeer = writer.pid == peer.pid && peer.process?.isRunning != false
        if successor == nil, isPeer, writer.uid == peer.uid { return known(at: now) }
        if let successor {
            // Without a process handle, the writer counts as an unknown process.
            return writer == successor.named && successor.process?.isRunning != false ? known(at: now) : .refused
        }
        guard writer.uid == peer.uid, !isInLine else { return .refused }
        var credentials = PeerCredentials(ofWriter: writer, onConnectionOf: peer)
        // After a process has ended, any process may have its number.
        if writer.pid == peer.pid { credentials.process = nil }
        successor = (writer, credentials.process)
        return .handedOn(to: credentials)
    }

    private mutating func known(at now: MonotonicInstant) -> Verdict {
        guard now >= looksAt else { return .known(thoroughly: false) }
        looksAt = now + Self.lookInterval
        return .known(thoroughly: true)
    }
}
