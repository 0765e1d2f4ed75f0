import Glibc

/// A file that is not seen in its folder before it gets a name: nothing of it is left by a command that is killed before.
///
/// Where the file system has no files without a name it has a passing one from the start.
struct UnnamedFile: ~Copyable {
    let descriptor: Int32
    let passingName: String
    private let folder: Int32
    private let isNamed: Bool

    /// - Parameter passingName: what it is called for the moment in which it replaces another.
    /// - Returns: nil where errno says why there is none.
    init?(in folder: Int32, called passingName: String) {
        let unnamed = openat(folder, ".", Self.temporary | O_WRONLY | O_CLOEXEC, 0o600)
        (self.folder, isNamed) = (folder, unnamed < 0)
        // What a run left that was killed stands in nobody's way.
        self.passingName = isNamed ? "\(passingName).\(UInt64.random(in: 0...UInt64.max))" : passingName
        descriptor = isNamed ? makePrivateFile(self.passingName, in: folder) : unnamed
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        // Where there is none, errno says why.
        guard descriptor >= 0 else { return }
        if isNamed { removePassingName() }
        close(descriptor)
    }

    /// - Returns: whether it has the name; otherwise errno says why not, which may be taken.
    func link(as name: String) -> Bool {
        guard isNamed else {
            return linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", folder, name, AT_SYMLINK_FOLLOW) == 0
        }
        guard linkat(folder, passingName, folder, name, 0) == 0 else { return false }
        removePassingName()
        return true
    }

    /// Takes the place of the file that has a name.
    func replace(_ name: String) -> Bool {
        guard isNamed || link(as: passingName) else { return false }
        guard renameat(folder, passingName, folder, name) != 0 else { return true }
        let code = errno
        removePassingName()
        errno = code
        return false
    }

    /// Only of this very file.
    private func removePassingName() {
        var (mine, named) = (stat(), stat())
        guard fstat(descriptor, &mine) == 0, fstatat(folder, passingName, &named, AT_SYMLINK_NOFOLLOW) == 0,
            mine.st_ino == named.st_ino, mine.st_dev == named.st_dev
        else { return }
        unlinkat(folder, passingName, 0)
    }

    /// `O_TMPFILE`, which Swift does not read.
    private static let temporary = 0o20000000 | O_DIRECTORY
}
