import Glibc

/// The folder of the socket, checked once and held open, so that later steps use the same folder.
final class Folder: Sendable {
    let descriptor: Int32
    let path: String

    /// Opens the folder, creating missing parts with mode 0700, or 0755 if it is for all users.
    ///
    /// It accepts a folder of the broker's own or of root in which no one else can add, replace or remove the socket: one that
    /// others cannot write to, or one of root's with the sticky bit, like `/tmp`.
    init(path: String, isForEverybody: Bool = false) throws(SocketError) {
        try Folder.make(path, mode: isForEverybody ? 0o755 : 0o700)
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        self.path = path
        guard descriptor >= 0 else {
            if errno == ELOOP || errno == ENOTDIR { throw .unsafeFolder(path: path, why: "is a link or no folder") }
            throw .system(doing: "open the socket's folder \(path)", code: errno)
        }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else {
            throw .system(doing: "look at the socket's folder \(path)", code: errno)
        }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw .unsafeFolder(path: path, why: "belongs to another user (uid \(facts.st_uid))")
        }
        let othersCanWrite = facts.st_mode & (S_IWGRP | S_IWOTH) != 0
        let isSticky = facts.st_mode & S_ISVTX != 0 && facts.st_uid == 0
        guard !othersCanWrite || isSticky else {
            throw .unsafeFolder(path: path, why: "can be written to by other users")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// - Throws: if other users may enter it.
    func requirePrivate() throws(SocketError) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid(), facts.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw .unsafeFolder(path: path, why: "can be entered by other users")
        }
    }

    /// Lets other users pass through it, and not list it.
    func share() throws(SocketError) {
        guard fchmod(descriptor, 0o711) == 0 else { throw .system(doing: "open the folder \(path)", code: errno) }
    }

    /// Runs `body` while no other broker changes sockets in this folder.
    ///
    /// The lock is on the folder itself and leaves no file behind. Any process that can open the folder can hold it, so the wait is bounded.
    func locked<Result>(
        unless isAlone: Bool = false, _ body: () throws(SocketError) -> Result
    ) throws(SocketError) -> Result {
        guard !isAlone else { return try body() }
        var attempts = 100
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            attempts -= 1
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw .system(doing: "lock the socket's folder \(path)", code: errno)
            }
            guard attempts > 0 else {
                throw .unsafeFolder(path: path, why: "is held locked by another program (lslocks names it)")
            }
            usleep(20_000)
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }

    /// The file at `name`, links not followed; `nil` for none.
    func entry(_ name: String) throws(SocketError) -> stat? {
        var facts = stat()
        if fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 { return facts }
        guard errno == ENOENT else { throw .system(doing: "look at \(path)/\(name)", code: errno) }
        return nil
    }

    func unlink(_ name: String) throws(SocketError) {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw .system(doing: "remove \(path)/\(name)", code: errno)
        }
    }

    private static func make(_ path: String, mode: mode_t) throws(SocketError) {
        var soFar = ""
        for part in path.split(separator: "/") {
            soFar += "/" + part
            let isNew = mkdir(soFar, 0o700) == 0
            // The umask may have removed permissions that others need.
            if isNew, mode != 0o700, chmod(soFar, mode) == 0 { continue }
            guard isNew || errno == EEXIST else {
                let code = errno
                // An existing folder may answer with EROFS or EACCES rather than EEXIST.
                if access(soFar, F_OK) == 0 { continue }
                throw .system(doing: "make the socket's folder \(soFar)", code: code)
            }
        }
    }
}
