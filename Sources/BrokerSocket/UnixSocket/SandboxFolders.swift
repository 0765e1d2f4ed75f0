import BrokerSystem
import Glibc

/// Where the sockets of sandboxes are: those of each are alone in a folder, which can be mounted into its sandbox. A socket that is
/// mounted by itself would be dead when another one is bound in its place.
package struct SandboxFolders: Sendable {
    private let path: String
    /// Every user may connect to a socket whose path they know, and nobody can list the paths. The service refuses all users but one.
    private let isShared: Bool

    /// - Parameter path: the folder of them all.
    package init(_ path: String, isShared: Bool = false) {
        (self.path, self.isShared) = (path, isShared)
    }

    /// - Parameter socket: the broker's own, in whose folder they are.
    package init(beside socket: String, isShared: Bool = false) {
        self.init(
            String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)]) + "/sandboxes", isShared: isShared)
    }

    package func socketPath(_ handle: String, _ name: String) -> String { "\(path)/\(handle)/\(name)" }

    /// - Parameters:
    ///   - name: the socket's file.
    ///   - acceptsAnyUID: whether any user is served who is given the folder; nobody else comes to it.
    package func bind(
        _ handle: String, _ name: String, acceptsAnyUID: Bool = false
    ) throws(SocketError) -> ListeningSocket {
        do throws(SocketError) {
            // Who may exchange a folder in it could put a socket of their own in its place.
            let all = try Folder(path: path)
            if isShared { try all.share() }
            if acceptsAnyUID { try all.requirePrivate() }
            let audience: SocketPlace.Audience = isShared || acceptsAnyUID ? .everybody : .owner
            return try .bind(SocketPlace(path: socketPath(handle, name), audience: audience, isAlone: true))
        } catch {
            remove(handle)
            throw error
        }
    }

    /// Removes the folder of a socket that is gone.
    ///
    /// - Returns: false when something is in it that the broker did not put there.
    @discardableResult
    package func remove(_ handle: String) -> Bool {
        rmdir("\(path)/\(handle)") == 0 || errno == ENOENT
    }

    /// Removes the folder of them all, if nothing is left in it.
    package func removeEmpty() { rmdir(path) }

    /// Removes what a broker that died left. Sockets that somebody answers at stay.
    ///
    /// - Parameter names: of the files that sockets have.
    package func removeDead(_ names: [String], except kept: Set<String> = []) {
        let found = handles
        // Another user's is left alone; where there is none, none is made.
        guard !found.isEmpty, (try? Folder(path: path)) != nil else { return removeEmpty() }
        for handle in found where !kept.contains(handle) {
            guard let folder = try? Folder(path: "\(path)/\(handle)") else { continue }
            for name in names {
                let socket = socketPath(handle, name)
                guard var address = try? UnixAddress(path: socket) else { continue }
                // No other broker is here: this one listens beside them.
                try? ListeningSocket.makeWay(at: socket, name: name, in: folder, address: &address)
            }
            remove(handle)
        }
        removeEmpty()
    }

    /// None where they cannot be listed: they stay until the next start.
    private var handles: [String] { (try? FolderNames(of: path))?.names.filter { !$0.hasPrefix(".") } ?? [] }
}
