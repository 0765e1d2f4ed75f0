import BrokerModel
import BrokerSystem
import CBrokerLinux

extension PeerCredentials {
    /// Asks the kernel who connected. To be called right after accept (``PeerProcess``).
    package init(ofSocket descriptor: Int32) throws(SocketError) {
        var peer = broker_peer()
        let code = broker_read_peer(descriptor, &peer)
        guard code == 0 else { throw .system(doing: "read who connected", code: code) }
        let text = withUnsafeBytes(of: &peer.label) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let label: SecurityLabel = peer.label_error != 0 ? .unreadable : text.isEmpty ? .none : .text(text)
        self.init(
            uid: peer.uid, gid: peer.gid, pid: peer.pid, label: label,
            process: peer.process < 0 ? nil : PeerProcess(owning: peer.process))
    }
}
