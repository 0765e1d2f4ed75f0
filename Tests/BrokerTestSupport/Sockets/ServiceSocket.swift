import Glibc

/// A listening Unix socket that outlives its server, as systemd holds one for a service: a broker that receives
/// it (``BrokerProcess/Options/activated``) can be replaced, and no client is refused in the meantime.
package final class ServiceSocket: Sendable {
    package let path: String
    let descriptor: Int32

    package init(path: String) throws {
        self.path = path
        descriptor = try Self.listen(at: path)
    }

    deinit { close(descriptor) }

    /// Whether a connection waits to be accepted.
    package var hasClient: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) == 1
    }

    static func listen(at path: String) throws -> Int32 {
        unlink(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // PassCredentials=yes, as in the units.
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw ProcessFailure("bind \(path): errno \(errno)") }
        guard Glibc.listen(descriptor, 16) == 0 else { throw ProcessFailure("listen \(path): errno \(errno)") }
        return descriptor
    }
}
