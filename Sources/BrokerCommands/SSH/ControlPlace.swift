import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// The place for the control socket of a login's own connection. ssh makes the socket, and removes it.
struct ControlPlace {
    let path: String
    /// Nil where the socket lies in the person's runtime directory, which is private as it is.
    private let folder: String?

    init(_ name: LoginName) throws(BrokerClientError) {
        if let runtime = Self.runtimeFolder {
            (path, folder) = ("\(runtime)/brokerctl-ssh-\(name.text)", nil)
            return
        }
        let made = "/tmp/brokerctl-ssh-\(name.text)"
        guard mkdir(made, 0o700) == 0 else {
            throw BrokerClientError(.internal, "\(made) cannot be made: \(errnoText(errno)).")
        }
        (path, folder) = (made + "/control", made)
    }

    func remove() {
        unlink(path)
        if let folder { rmdir(folder) }
    }

    /// ssh adds 17 bytes while it makes the socket, and a socket's path has 107 at most.
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
