import Glibc

/// Why a connection to the broker failed.
package enum ConnectFailure: Error, Sendable, Equatable {
    /// No process listens: the socket is missing, or does not accept.
    case notRunning
    /// The path does not fit into a socket address (107 bytes).
    case pathTooLong
    /// The file is not a socket.
    case notASocket
    /// The socket, or the process behind it, belongs to neither this user nor root.
    case untrusted(uid: uid_t)
    /// The broker's queue of connections that wait to be accepted is full.
    case busy
    /// The kernel refused (`errno`): permissions, or no file descriptors left.
    case system(errno: Int32)

    static func last() -> ConnectFailure { .system(errno: errno) }
}
