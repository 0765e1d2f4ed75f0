import Glibc

/// A listening Unix stream socket, ready for a ``LocalListener``.
package final class ListeningSocket: Sendable {
    package let descriptor: Int32
    /// The file the broker bound itself; nil for an inherited socket, whose path belongs to the one who made it.
    private let file: BoundFile?

    init(descriptor: Int32, file: BoundFile?) {
        self.descriptor = descriptor
        self.file = file
    }

    /// Takes a socket that systemd bound (socket activation).
    ///
    /// - Throws: `notAListener` for a descriptor that is anything but a listening Unix stream socket.
    package static func inherited(_ descriptor: Int32) throws(SocketError) -> ListeningSocket {
        guard option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw .notAListener(descriptor: descriptor) }
        return ListeningSocket(descriptor: descriptor, file: nil)
    }

    /// Unlinks the path, unless something else stands there by now. Does nothing the second time.
    package func removePath() {
        file?.remove()
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}
