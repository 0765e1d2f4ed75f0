import BrokerLink
import BrokerSystem
import Glibc

/// A folder of this program's own for one socket: where the session keeps such things, or else for temporary files.
///
/// It is locked for as long as this program runs, so that what a program left that was killed can be told from what is in use:
/// whoever makes a folder removes those first.
struct LaunchFolder: ~Copyable {
    static let socketName = "broker.sock"
    private static let prefix = "brokerctl-"
    private static let chance = "XXXXXX"

    let path: String
    private let lock: Int32

    init() throws(BrokerClientError) {
        let session = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        for place in [session, "/tmp"] where place.hasPrefix("/") {
            Self.removeDead(in: place)
            guard let made = Self.make(in: place) else { continue }
            (path, lock) = made
            return
        }
        throw .noSocketForSandbox
    }

    deinit {
        rmdir(path)
        close(lock)
    }

    private static func make(in place: String) -> (path: String, lock: Int32)? {
        // Somebody who clears up may be quicker than the lock; the next folder is another one.
        for _ in 0..<3 {
            var template = Array("\(place)/\(prefix)\(chance)".utf8CString)
            guard mkdtemp(&template) != nil else { return nil }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if let lock = locked(path) { return (path, lock) }
        }
        errno = EAGAIN
        return nil
    }

    /// - Returns: a descriptor that holds the lock; nil where somebody else does, or where it is no folder of this user's.
    private static func locked(_ path: String) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var (held, there) = (stat(), stat())
        guard fstat(descriptor, &held) == 0, held.st_uid == geteuid(),
            flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            lstat(path, &there) == 0, (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino)
        else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func removeDead(in place: String) {
        for name in names(in: place) {
            let path = "\(place)/\(name)"
            guard let lock = locked(path) else { continue }
            unlinkat(lock, socketName, 0)
            // Where something else is in it, it stays.
            rmdir(path)
            close(lock)
        }
    }

    /// None where the place cannot be listed: what is dead there stays.
    private static func names(in place: String) -> [String] {
        let length = prefix.utf8.count + chance.utf8.count
        let names = (try? FolderNames(of: place))?.names ?? []
        return names.filter { $0.hasPrefix(prefix) && $0.utf8.count == length }
    }
}

extension BrokerClientError {
    static var noSocketForSandbox: BrokerClientError {
        BrokerClientError(
            .unsupported,
            "A socket for the sandbox cannot be made: \(errnoText(errno)). Free some space below $XDG_RUNTIME_DIR.")
    }
}
