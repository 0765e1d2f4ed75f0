import CBrokerLinux
import Glibc
import NIOCore

/// The user at the other end of a loopback connection.
enum LoopbackVisitor: Sendable, Hashable {
    case user(uid_t)
    /// Its socket is gone, so the kernel cannot identify it any more. A browser waits for its page.
    case gone
    /// The kernel does not identify it here.
    case unknown

    /// Whether it may be a browser of this user.
    func mayBe(_ user: uid_t) -> Bool { self == .user(user) || self == .unknown }
}

extension ChannelPipeline.SynchronousOperations {
    func loopbackVisitor() throws -> LoopbackVisitor {
        let visitor: LoopbackVisitor? = try withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { descriptor in
            var user: uid_t = 0
            switch broker_loopback_peer_uid(descriptor, &user) {
            case 0: return .user(user)
            case ENOENT, ENOTCONN, ECONNRESET: return .gone
            default: return .unknown
            }
        }
        return visitor ?? .unknown
    }
}
