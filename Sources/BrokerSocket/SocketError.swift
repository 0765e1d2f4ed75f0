import BrokerSystem
import Glibc

/// Why the broker's socket is not available.
package enum SocketError: Error, Sendable, Equatable {
    /// A socket address holds `limit` bytes of path.
    case pathTooLong(path: String, limit: Int)
    /// Other users could change the folder of the socket, or it is no folder.
    case unsafeFolder(path: String, why: String)
    /// Another broker answers there.
    case inUse(path: String)
    /// The path has a file that the broker did not create and therefore does not remove.
    case occupied(path: String, why: String)
    /// The inherited descriptor is no listening Unix stream socket.
    case notAListener(descriptor: Int32)
    /// - Parameters:
    ///   - doing: the attempted action, to follow "could not".
    ///   - code: the errno value.
    case system(doing: String, code: Int32)
}

extension SocketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .pathTooLong(let path, let limit):
            "The socket path \(path) is longer than the \(limit) bytes that the system allows; choose a shorter one."
        case .unsafeFolder(let path, let why):
            "The socket's folder \(path) \(why); use a folder of your own with mode 0700."
        case .inUse(let path):
            "Another program answers at \(path); stop it, or choose another path with --socket."
        case .occupied(let path, let why):
            "\(path) \(why); remove it, or choose another path with --socket."
        case .notAListener(let descriptor):
            "Descriptor \(descriptor) is not a listening Unix stream socket; hand over one that listens."
        case .system(let doing, let code):
            "Could not \(doing): \(errnoText(code))."
        }
    }
}
