import BrokerModel
import BrokerSystem
import BrokerValues
import CBrokerLinux

extension PeerCredentials {
    /// Somebody who was handed the connection of the peer, and wrote on it a moment ago.
    init(ofWriter writer: ByteWriter, onConnectionOf peer: PeerCredentials) {
        let process = broker_hold_process(writer.pid)
        self.init(
            uid: writer.uid, gid: writer.gid, pid: writer.pid,
            // Where there is a security module, what it says is known of the peer only.
            label: peer.label == .none ? .none : .unreadable,
            process: process < 0 ? nil : PeerProcess(owning: process))
    }

    /// Asks the kernel who connected. To be called right after accept (``PeerProcess``).
    package init(ofSocket descriptor: Int32) throws(SocketError) {
        var peer = broker_peer()
        let code = broker_read_peer(descriptor, &peer)
        guard code == 0 else { throw .system(doing: "read who connected", code: code) }
        let text = withUnsafeBytes(of: &peer.label) { bytes in String(foreign: bytes.prefix { $0 != 0 }) }
        let read: SecurityLabel = text.map { $0.isEmpty ? .none : .text($0) } ?? .unreadable
        let label = peer.label_error == 0 ? read : .unreadable
        self.init(
            uid: peer.uid, gid: peer.gid, pid: peer.pid, label: label,
            process: peer.process < 0 ? nil : PeerProcess(owning: peer.process))
    }
}
