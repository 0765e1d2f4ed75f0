import CSystemd
import Glibc

/// A listening socket that the service manager opened for us (sd_listen_fds(3)).
package struct ActivatedSocket: Sendable, Equatable {
    package let descriptor: Int32
    /// The path that the manager bound it to; `nil` for an abstract or unnamed socket.
    package let path: String?
}

/// All received sockets, each under its own name.
package struct ActivatedSockets: Sendable, Equatable {
    /// The broker's own socket.
    package let main: ActivatedSocket
    /// The sockets of other doors.
    package let others: [String: ActivatedSocket]
}

package enum SocketActivation {
    /// `FileDescriptorName=` of brokerd.socket; also systemd's default if the unit sets none.
    package static let name = "brokerd.socket"
    /// The name of each socket if `LISTEN_FDNAMES` is not set.
    private static let unnamed = "unknown"

    /// Takes the descriptors and clears `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`, so that no child takes them for its own.
    /// Changes the environment: call it before any thread starts, and once.
    ///
    /// - Parameter others: names of further sockets that may come with ``name``.
    /// - Returns: `nil` if the process was not socket-activated. Descriptors of unknown names are closed.
    package static func take(with others: [String]) throws(SocketActivationError) -> ActivatedSockets? {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        guard count >= 0 else { throw .unreadable(errno: -count) }
        defer { release(names, count: Int(count)) }
        guard count > 0 else { return nil }

        var taken: [String: [Int32]] = [:]
        var unknown: [String] = []
        for index in 0..<count {
            let descriptor = SD_LISTEN_FDS_START + index
            var given = names?[Int(index)].map { String(cString: $0) } ?? ""
            // As from systemd-socket-activate without --fdname.
            if count == 1, given == Self.unnamed { given = name }
            if given == name || others.contains(given) {
                taken[given, default: []].append(descriptor)
            } else {
                unknown.append(given)
                close(descriptor)
            }
        }
        guard let ours = taken.removeValue(forKey: name) else {
            throw .notOurs(names: (unknown + taken.keys).sorted())
        }
        var sockets: [String: ActivatedSocket] = [:]
        for (name, descriptors) in taken { sockets[name] = try socket(named: name, among: descriptors) }
        return ActivatedSockets(main: try socket(named: name, among: ours), others: sockets)
    }

    private static func socket(
        named name: String, among all: [Int32]
    ) throws(SocketActivationError) -> ActivatedSocket {
        guard let descriptor = all.first, all.count == 1 else { throw .several(all.count, name: name) }
        guard sd_is_socket_unix(descriptor, streamType, 1, nil, 0) > 0 else { throw .notAListeningUnixSocket }
        return ActivatedSocket(descriptor: descriptor, path: boundPath(descriptor))
    }

    private static let streamType = Int32(SOCK_STREAM.rawValue)

    private static func release(_ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int) {
        guard let names else { return }
        for index in 0..<max(count, 0) { free(names[index]) }
        free(names)
    }

    private static func boundPath(_ descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        let path = withUnsafeBytes(of: &address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return path.isEmpty ? nil : path
    }
}

package enum SocketActivationError: Error, Sendable, Equatable {
    case unreadable(errno: Int32)
    /// Sockets were passed, but none is named `brokerd.socket`.
    case notOurs(names: [String])
    case several(Int, name: String)
    case notAListeningUnixSocket
}

extension SocketActivationError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let code):
            "The service manager's list of sockets cannot be read (errno \(code)); check LISTEN_FDS and LISTEN_PID."
        case .notOurs(let names):
            "The service manager handed over \(names.joined(separator: ", ")) but no socket called "
                + "\(SocketActivation.name); set FileDescriptorName=\(SocketActivation.name) in the socket unit."
        case .several(let count, let name):
            "The service manager handed over \(count) sockets called \(name); leave one ListenStream=."
        case .notAListeningUnixSocket:
            "The socket from the service manager is not a listening Unix stream socket; use ListenStream= with a path."
        }
    }
}
