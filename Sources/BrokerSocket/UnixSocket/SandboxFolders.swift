import BrokerSystem
import Glibc

/// The folders for sandboxes' sockets: each sandbox has a folder of its own, which can be mounted into it. A socket mounted by
/// itself would be dead after another one is bound in its place.
package struct SandboxFolders: Sendable {
    private let path: String
    /// Every user may connect to a socket whose path they know, and no one can list the paths. The service refuses all users but one.
    private let isShared: Bool

    /// - Parameter path: the parent of all these folders.
    package init(_ path: String, isShared: Bool = false) {
        (self.path, self.isShared) = (path, isShared)
    }

    /// - Parameter socket: the broker's own, whose folder they are in.
    package init(beside socket: String, isShared: Bool = false) {
        self.init(
            String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)]) + "/sandboxes", isShared: isShared)
    }

    package func socketPath(_ handle: String, _ name: String) -> String { "\(path)/\(handle)/\(name)" }

    /// - Parameters:
    ///   - name: the socket's file name.
    ///   - acceptsAnyUID: whether any user with the folder is served; no one else can reach it.
    package func bind(
        _ handle: String, _ name: String, acceptsAnyUID: Bool = false
    ) throws(SocketError) -> ListeningSocket {
        do throws(SocketError) {
            // A user who can replace a folder in it could put a socket of their own in its place.
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
    /// - Returns: false if it has files that the broker did not put there.
    @discardableResult
    package func remove(_ handle: String) -> Bool {
        rmdir("\(path)/\(handle)") == 0 || errno == ENOENT
    }

    /// Removes the parent folder, if it is empty.
    package func removeEmpty() { rmdir(path) }

    /// Removes the remains of a broker that died. Sockets that a process answers stay.
    ///
    /// - Parameter names: file names that sockets may have.
    package func removeDead(_ names: [String], except kept: Set<String> = []) {
        let found = handles
        // Another user's folder is left alone; a missing one is not created.
        guard !found.isEmpty, (try? Folder(path: path)) != nil else { return removeEmpty() }
        for handle in found where !kept.contains(handle) {
            guard let folder = try? Folder(path: "\(path)/\(handle)") else { continue }
            for name in names {
                let socket = socketPath(handle, name)
                guard let address = UnixAddress(path: socket) else { continue }
                // No other broker is here: this one listens next to them.
                try? ListeningSocket.makeWay(at: socket, name: name, in: folder, address: address)
            }
            remove(handle)
        }
        removeEmpty()
    }

    /// Empty if they cannot be listed: they stay until the next start.
    private var handles: [String] { (try? FolderNames(of: path))?.names.filter { !$0.hasPrefix(".") } ?? [] }
}
