import BrokerLink
import BrokerSystem
import Glibc

/// A file that holds a token, for programs that can only read files. Only its owner can read it, and no reader sees half a
/// token: it is written without a name, and gets its name once it is complete (``UnnamedFile``).
struct TokenFile: ~Copyable {
    private static let longest = 1 << 20

    let path: String
    private let name: String
    /// All operations use the folder that was checked, even if its path later names another.
    private let folder: Int32
    /// The file that was written last.
    private var written: stat?

    /// - Throws: ``BrokerClientError/Code/invalidParameter`` if others could read or replace the file, or if the path holds
    ///   something else.
    init(at path: String) throws(BrokerClientError) {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard !name.isEmpty, name != ".", name != ".." else {
            throw Self.unfit("\(path) names a folder; name a file in it.")
        }
        let folder = try Self.folder(slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
        do throws(BrokerClientError) {
            let isMade = try Self.isMade(name, in: folder, path)
            guard isMade || Self.isFree(name, in: folder) else {
                throw Self.unfit("\(path) is not a token file of brokerctl's; remove it, or name another path.")
            }
        } catch {
            close(folder)
            throw error
        }
        (self.path, self.name, self.folder) = (path, name, folder)
    }

    deinit { close(folder) }

    mutating func write(_ token: String) throws(BrokerClientError) {
        guard let file = UnnamedFile(in: folder, called: ".\(name).new") else { throw failed() }
        // No newline: some programs send the contents verbatim.
        guard writeAll(token.utf8, to: file.descriptor) else { throw failed() }
        var facts = stat()
        guard fchmod(file.descriptor, 0o600) == 0, FileMark(of: Array(token.utf8)).set(on: file.descriptor),
            fstat(file.descriptor, &facts) == 0
        else { throw failed() }
        try put(file)
        written = facts
    }

    /// Gives a new file its name, replacing only a file that this command made.
    private func put(_ new: borrowing UnnamedFile) throws(BrokerClientError) {
        // A name already in use is kept.
        guard isOurs else {
            guard new.link(as: name) else { throw failed() }
            return
        }
        // Only a rename replaces a file.
        if (try? Self.isMade(new.passingName, in: folder, path)) ?? false { unlinkat(folder, new.passingName, 0) }
        guard new.replace(name) else {
            throw failed(at: errno == EEXIST ? path.dropLast(name.count) + new.passingName : path)
        }
    }

    /// Removes the written file, if it still exists.
    mutating func remove() {
        guard written != nil, isOurs else { return }
        unlinkat(folder, name, 0)
        written = nil
    }

    /// Whether the file is the last one written, unchanged, or was left by an earlier run.
    private var isOurs: Bool {
        var facts = stat()
        if let written, fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0, facts.st_ino == written.st_ino,
            facts.st_mtim.tv_sec == written.st_mtim.tv_sec, facts.st_mtim.tv_nsec == written.st_mtim.tv_nsec
        {
            return true
        }
        return (try? Self.isMade(name, in: folder, path)) ?? false
    }

    /// - Returns: a descriptor of the folder, which only its owner can access.
    private static func folder(_ path: String) throws(BrokerClientError) -> Int32 {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else {
            switch errno {
            case ENOENT: throw unfit("There is no folder \(path); make it with: mkdir -m 700 \(path)")
            case ELOOP, ENOTDIR: throw unfit("\(path) is a link or not a folder; name the folder itself.")
            default: throw unfit("The folder \(path) cannot be opened: \(errnoText(errno)).")
            }
        }
        var facts = stat()
        let isKnown = fstat(folder, &facts) == 0
        if isKnown, facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 { return folder }
        close(folder)
        guard isKnown, facts.st_uid == geteuid() else {
            throw unfit("The folder \(path) belongs to another user; use one of yours, below $XDG_RUNTIME_DIR.")
        }
        throw unfit("Other users can access the folder \(path); make it private: chmod 700 \(path)")
    }

    private static func isFree(_ name: String, in folder: Int32) -> Bool {
        var facts = stat()
        return fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT
    }

    /// Whether this command made the file and it is unchanged since.
    private static func isMade(_ name: String, in folder: Int32, _ path: String) throws(BrokerClientError) -> Bool {
        var facts = stat()
        guard fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        let isPlain = facts.st_mode & S_IFMT == S_IFREG && facts.st_nlink == 1 && facts.st_uid == geteuid()
        guard isPlain else {
            throw unfit("\(path) is a link or not a regular file of yours; remove it, or name another path.")
        }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw unfit("\(path) exists but cannot be read; remove it, or name another path.") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        let count = read(file, &bytes, bytes.count)
        guard facts.st_mode & 0o177 == 0, (0...longest).contains(count), fstat(file, &facts) == 0 else { return false }
        return FileMark(of: bytes.prefix(count)).isSet(in: facts)
    }

    private static func unfit(_ message: String) -> BrokerClientError { BrokerClientError(.invalidParameter, message) }

    private func failed() -> BrokerClientError { failed(at: path) }

    private func failed(at path: String) -> BrokerClientError {
        BrokerClientError(
            .internal,
            "\(path) cannot be written: \(errnoText(errno)). Remove the file there, or choose another path.")
    }
}
