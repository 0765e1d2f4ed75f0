import BrokerSystem
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

    package static func listen(at path: String) throws -> Int32 {
        guard let address = UnixAddress(path: path) else { throw ProcessFailure("\(path) is too long") }
        unlink(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // PassCredentials=yes, as in the units.
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, socklen_t(MemoryLayout<Int32>.size))
        let bound = address.withPointer { bind(descriptor, $0, $1) }
        guard bound == 0 else { throw ProcessFailure("bind \(path): errno \(errno)") }
        guard Glibc.listen(descriptor, 16) == 0 else { throw ProcessFailure("listen \(path): errno \(errno)") }
        return descriptor
    }
}
