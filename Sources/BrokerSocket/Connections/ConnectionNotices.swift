import BrokerModel
import BrokerValues
import Logging

/// Logs refused or ended connections: the same event of one peer once a minute, and only so many different ones of one user.
final class ConnectionNotices: Sendable {
    private struct Notice: Hashable {
        let text: String
        let uid: UInt32?
        let claimant: QuotaOwner?
    }

    let logger: Logger
    private let repeats = Repeats<UInt32?, UInt32?, Notice>()

    init(_ logger: Logger) { self.logger = logger }

    /// - Parameters:
    ///   - peer: `nil` if unknown.
    ///   - owner: `nil` if the peer was not inspected.
    func tell(
        _ text: String, of peer: PeerCredentials?, _ owner: ConnectionOwner? = nil, _ metadata: Logger.Metadata = [:]
    ) {
        let notice = Notice(text: text, uid: peer?.uid, claimant: owner?.claimant.orAllUnnamed)
        guard let before = repeats.tell(notice, of: peer?.uid, at: MonotonicInstant.now.sinceBoot) else { return }
        var metadata = metadata
        if let peer { metadata.merge(["pid": "\(peer.pid)", "uid": "\(peer.uid)"]) { $1 } }
        if before > 0 { metadata["times_before"] = "\(before)" }
        logger.notice("\(text)\(peer.map { " (uid \($0.uid))" } ?? "")", metadata: metadata)
    }
}
