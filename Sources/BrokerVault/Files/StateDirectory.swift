import BrokerModel
import BrokerSystem
import Glibc

/// The directory of the broker's state: ours, and closed to everyone else.
///
/// Everything in it is opened relative to this descriptor and without following links, so that a program that can rename
/// components of its path cannot substitute another file in between.
package final class StateDirectory: Sendable {
    /// Contains no symbolic links.
    package let path: String
    package let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens the directory; creates it (and missing directories above it) with mode 0700.
    ///
    /// - Parameter followsLink: for a path that systemd made, which makes links for some units.
    /// - Throws: ``VaultError/notPrivate(_:)`` if it is a link, another user's or open to group or others; it is not repaired,
    ///   because its content may have been read or replaced already.
    package static func open(
        creating path: String, followingLink followsLink: Bool = false
    ) throws(VaultError) -> StateDirectory {
        // With a trailing slash, the system would follow a link before it.
        var path = Substring(path)
        while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
        if followsLink, let target = target(of: String(path)) { path = target[...] }
        try make(String(path))
        let descriptor = Glibc.open(String(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let number = errno
            guard number != ELOOP && number != ENOTDIR else {
                var facts = stat()
                let isLink = lstat(String(path), &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK
                let kind = isLink ? target(of: String(path)).map { "a link to \($0)" } ?? "a broken link" : "a file"
                throw .notPrivate("\(path) is \(kind). Name the directory itself with --state-dir.")
            }
            throw Ownership.objection(to: String(path))
                ?? .io("The state directory \(path) cannot be opened: \(errnoText(number)).")
        }
        do {
            try requirePrivate(descriptor, path: String(path))
            return StateDirectory(path: try resolved(String(path), descriptor), descriptor: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// The path without links in it; nil if it cannot be resolved.
    package static func target(of path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    private static func make(_ path: String) throws(VaultError) {
        var prefix = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            let parent = prefix.isEmpty ? "." : prefix
            prefix += part
            if !prefix.isEmpty {
                if mkdir(prefix, 0o700) != 0 {
                    let number = errno
                    var facts = stat()
                    guard stat(prefix, &facts) == 0 else { throw failure(number, path, prefix) }
                }
                // An empty one may be from a start that ended before it synced the name.
                guard !isEmpty(prefix) || syncNames(in: parent) else { throw failure(errno, path, prefix) }
            }
            prefix += "/"
        }
    }

    /// After a power cut a directory exists only if its name was synced, regardless of what was synced in it.
    private static func syncNames(in parent: String) -> Bool {
        let descriptor = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // The directory may be writable and not readable.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    private static func isEmpty(_ path: String) -> Bool {
        guard let directory = opendir(path) else { return false }
        defer { closedir(directory) }
        // The directory itself and its parent are listed, too.
        return !(0..<3).allSatisfy { _ in readdir(directory) != nil }
    }

    private static func failure(_ number: Int32, _ path: String, _ prefix: String) -> VaultError {
        let failure = "The state directory \(path) cannot be made: \(errnoText(number)) at \(prefix)."
        switch number {
        case _ where meansFull(number): return .full(failure)
        case EROFS: return .io("\(failure) \(readOnlyText(path))")
        case EACCES: return Ownership.objection(to: parent(of: prefix)) ?? .io(failure)
        default: return .io(failure)
        }
    }

    private static func parent(of path: String) -> String {
        let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return parent.isEmpty ? "/" : String(parent)
    }

    private static func requirePrivate(_ descriptor: Int32, path: String) throws(VaultError) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw .io("\(path) cannot be examined: \(errnoText(errno)).") }
        guard facts.st_uid == geteuid() else {
            throw .notPrivate(
                "The state directory: \(Ownership.objection(to: path, of: facts.st_uid)). Or name a directory of your own."
            )
        }
        guard facts.st_mode & 0o077 == 0 else {
            throw .notPrivate(
                "The state directory \(path) is open to others (mode \(String(facts.st_mode & 0o777, radix: 8))). "
                    + "Run: chmod 700 \(path)")
        }
    }

    /// The store of the rows refuses links anywhere in its path; links above the directory are the user's responsibility.
    private static func resolved(_ path: String, _ descriptor: Int32) throws(VaultError) -> String {
        guard let real = target(of: path) else { throw .io("\(path) cannot be resolved: \(errnoText(errno)).") }
        var ours = stat()
        var theirs = stat()
        guard fstat(descriptor, &ours) == 0, lstat(real, &theirs) == 0, ours.st_dev == theirs.st_dev,
            ours.st_ino == theirs.st_ino
        else { throw .notPrivate("\(path) was replaced while it was opened. Check who else can write above it.") }
        return real
    }
}
