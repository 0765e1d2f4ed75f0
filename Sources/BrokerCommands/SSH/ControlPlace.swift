import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// The path of the control socket of a login's own connection. ssh creates and removes the socket.
struct ControlPlace {
    let path: String
    /// `nil` if the socket is in the user's runtime directory, which is already private.
    private let folder: String?

    init(_ name: String) throws(BrokerClientError) {
        if let runtime = Self.runtimeFolder {
            (path, folder) = ("\(runtime)/brokerctl-ssh-\(name)", nil)
            return
        }
        let made = "/tmp/brokerctl-ssh-\(name)"
        guard mkdir(made, 0o700) == 0 else {
            throw BrokerClientError(.internal, "\(made) cannot be made: \(errnoText(errno)).")
        }
        (path, folder) = (made + "/control", made)
    }

    func remove() {
        unlink(path)
        if let folder { rmdir(folder) }
    }

    /// ssh appends 17 bytes while it creates the socket, and a socket's path has at most 107.
    private static let longest = 48

    private static var runtimeFolder: String? {
        var facts = stat()
        guard let path = SocketLocation.variable("XDG_RUNTIME_DIR"), path.hasPrefix("/"), path.utf8.count <= longest,
            lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == geteuid(),
            facts.st_mode & (S_IRWXG | S_IRWXO) == 0
        else { return nil }
        return path
    }
}
