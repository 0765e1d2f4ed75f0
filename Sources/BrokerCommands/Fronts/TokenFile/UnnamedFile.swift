import Glibc

/// A file that is invisible in its folder until it gets a name, so that a killed command leaves nothing behind.
///
/// If the file system does not support unnamed files, it has a temporary name from the start.
struct UnnamedFile: ~Copyable {
    let descriptor: Int32
    let passingName: String
    private let folder: Int32
    private let isNamed: Bool

    /// - Parameter passingName: its temporary name while it replaces another file.
    /// - Returns: `nil` on failure, with errno set.
    init?(in folder: Int32, called passingName: String) {
        let unnamed = openat(folder, ".", Self.temporary | O_WRONLY | O_CLOEXEC, 0o600)
        (self.folder, isNamed) = (folder, unnamed < 0)
        // A random suffix, so that a file left by a killed run does not conflict.
        self.passingName = isNamed ? "\(passingName).\(UInt64.random(in: 0...UInt64.max))" : passingName
        descriptor = isNamed ? makePrivateFile(self.passingName, in: folder) : unnamed
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        // On failure, errno must be preserved.
        guard descriptor >= 0 else { return }
        if isNamed { removePassingName() }
        close(descriptor)
    }

    /// - Returns: whether it got the name; otherwise errno gives the reason, for example that the name is in use.
    func link(as name: String) -> Bool {
        guard isNamed else {
            return linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", folder, name, AT_SYMLINK_FOLLOW) == 0
        }
        guard linkat(folder, passingName, folder, name, 0) == 0 else { return false }
        removePassingName()
        return true
    }

    /// Replaces the file of that name.
    func replace(_ name: String) -> Bool {
        guard isNamed || link(as: passingName) else { return false }
        guard renameat(folder, passingName, folder, name) != 0 else { return true }
        let code = errno
        removePassingName()
        errno = code
        return false
    }

    /// Removes the name only if it still belongs to this file.
    private func removePassingName() {
        var (mine, named) = (stat(), stat())
        guard fstat(descriptor, &mine) == 0, fstatat(folder, passingName, &named, AT_SYMLINK_NOFOLLOW) == 0,
            mine.st_ino == named.st_ino, mine.st_dev == named.st_dev
        else { return }
        unlinkat(folder, passingName, 0)
    }

    /// `O_TMPFILE`, a macro that Swift does not import.
    private static let temporary = 0o20000000 | O_DIRECTORY
}
