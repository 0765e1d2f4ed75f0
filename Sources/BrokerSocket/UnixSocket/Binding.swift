import BrokerSystem
import CBrokerLinux
import Glibc

extension ListeningSocket {
    /// Binds and listens at `place`.
    ///
    /// A socket left by a broker that died is replaced; anything else there is left alone and reported. Two brokers that start at
    /// once cannot take each other's socket: checking, removing and binding happen under a lock.
    package static func bind(_ place: SocketPlace) throws(SocketError) -> ListeningSocket {
        guard let address = UnixAddress(path: place.path) else {
            throw .pathTooLong(path: place.path, limit: UnixAddress.longestPath)
        }
        guard let slash = place.path.lastIndex(of: "/"), place.path.hasPrefix("/") else {
            throw .system(doing: "use the relative socket path \(place.path)", code: EINVAL)
        }
        let name = String(place.path[place.path.index(after: slash)...])
        guard !name.isEmpty, name != ".", name != ".." else {
            throw .occupied(path: place.path, why: "names a folder")
        }
        let folder = try Folder(
            path: slash == place.path.startIndex ? "/" : String(place.path[..<slash]),
            isForEverybody: place.audience == .everybody)
        return try folder.locked(unless: place.isAlone) { () throws(SocketError) in
            try makeWay(at: place.path, name: name, in: folder, address: address)
            let descriptor = try newSocket()
            do throws(SocketError) {
                let file = try put(descriptor, at: place, name: name, in: folder, address: address)
                return ListeningSocket(descriptor: descriptor, file: file)
            } catch {
                close(descriptor)
                throw error
            }
        }
    }

    /// Removes a socket of ours that no process answers any more.
    static func makeWay(
        at path: String, name: String, in folder: Folder, address: UnixAddress
    ) throws(SocketError) {
        guard let facts = try folder.entry(name) else { return }
        guard facts.st_mode & S_IFMT == S_IFSOCK else { throw .occupied(path: path, why: "is not a socket") }
        guard facts.st_uid == geteuid() else {
            throw .occupied(path: path, why: "belongs to another user (uid \(facts.st_uid))")
        }
        let probe = try newSocket()
        defer { close(probe) }
        let code = address.withPointer { connect(probe, $0, $1) == 0 ? 0 : errno }
        switch code {
        case ECONNREFUSED: try folder.unlink(name)
        case ENOENT: return
        // A full queue belongs to a live process, too.
        case 0, EAGAIN, EINPROGRESS: throw .inUse(path: path)
        case EPROTOTYPE: throw .occupied(path: path, why: "is a socket of another type")
        default: throw .system(doing: "ask who answers at \(path)", code: code)
        }
    }

    private static func put(
        _ descriptor: Int32, at place: SocketPlace, name: String, in folder: Folder, address: UnixAddress
    ) throws(SocketError) -> BoundFile {
        // Linux gives the file the mode of the unbound socket, so that it is closed to others from its first moment; a change of
        // the umask would affect files that other threads create meanwhile.
        guard fchmod(descriptor, 0o600) == 0 else { throw .system(doing: "set the socket's mode", code: errno) }
        let code = address.withPointer { Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno }
        guard code == 0 else { throw .system(doing: "bind the socket at \(place.path)", code: code) }
        // Looked up through the checked folder: a path redirected meanwhile is noticed.
        guard let facts = try folder.entry(name), facts.st_mode & S_IFMT == S_IFSOCK, facts.st_uid == geteuid() else {
            throw .occupied(path: place.path, why: "was changed while the socket was bound")
        }
        let file = BoundFile(folder: folder, isAlone: place.isAlone, name: name, facts: facts)
        do throws(SocketError) {
            if facts.st_mode & (S_IRWXG | S_IRWXO) != 0 {
                throw .unsafeFolder(path: folder.path, why: "is on a file system that ignores a socket's mode")
            }
            if place.audience == .everybody, fchmodat(folder.descriptor, name, 0o666, 0) != 0 {
                throw .system(doing: "open the socket to everybody", code: errno)
            }
            // Set before any client can connect: then a connection has it from its beginning, and every byte has a known writer.
            let asked = broker_ask_who_writes(descriptor)
            guard asked == 0 else { throw .system(doing: "ask who writes on the socket", code: asked) }
            guard listen(descriptor, 512) == 0 else { throw .system(doing: "listen on the socket", code: errno) }
        } catch {
            // The lock was held all the time, so the file is still ours.
            try folder.unlink(name)
            throw error
        }
        return file
    }

    private static func newSocket() throws(SocketError) -> Int32 {
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, flags, 0)
        guard descriptor >= 0 else { throw .system(doing: "make a socket", code: errno) }
        return descriptor
    }
}
