import BrokerLink
import BrokerSystem
import Glibc

/// A file that holds a token, for programs that can only read files. Nobody but its owner reads it, and no reader sees half of
/// one: it is written beside its place and renamed.
struct TokenFile: ~Copyable {
    private static let longest = 64 << 10

    let path: String
    private let name: String
    /// What is done is done in the folder that was looked at, whatever stands at its path later.
    private let folder: Int32
    /// The file that was written last: another one at its place is not ours to remove.
    private var written: ino_t?

    /// - Throws: ``BrokerClientError/Code/invalidParameter`` for a place where others could read or exchange it, or where
    ///   something else lies.
    init(at path: String) throws(BrokerClientError) {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard !name.isEmpty, name != ".", name != ".." else {
            throw Self.unfit("\(path) names a folder; name a file in it.")
        }
        let folder = try Self.folder(slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
        do throws(BrokerClientError) {
            try Self.check(existing: name, in: folder, path)
        } catch {
            close(folder)
            throw error
        }
        (self.path, self.name, self.folder) = (path, name, folder)
    }

    deinit { close(folder) }

    mutating func write(_ token: String) throws(BrokerClientError) {
        let new = ".\(name).new"
        unlinkat(folder, new, 0)
        let file = makePrivateFile(new, in: folder)
        guard file >= 0 else { throw failed() }
        defer { close(file) }
        do throws(BrokerClientError) {
            // Some programs send what they read as it is: there is no end of line.
            guard writeAll(token.utf8, to: file) else { throw failed() }
            var facts = stat()
            guard fchmod(file, 0o600) == 0, fstat(file, &facts) == 0, renameat(folder, new, folder, name) == 0 else {
                throw failed()
            }
            written = facts.st_ino
        } catch {
            unlinkat(folder, new, 0)
            throw error
        }
    }

    /// Takes away what was written, if it is still there.
    mutating func remove() {
        var facts = stat()
        guard let written, fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0, facts.st_ino == written else {
            return
        }
        unlinkat(folder, name, 0)
        self.written = nil
    }

    /// - Returns: a descriptor of the folder, which is its owner's alone.
    private static func folder(_ path: String) throws(BrokerClientError) -> Int32 {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else {
            switch errno {
            case ENOENT: throw unfit("There is no folder \(path); make it with: mkdir -m 700 \(path)")
            case ELOOP, ENOTDIR: throw unfit("\(path) is a link or no folder; name the folder itself.")
            default: throw unfit("The folder \(path) cannot be opened: \(errnoText(errno)).")
            }
        }
        var facts = stat()
        let isKnown = fstat(folder, &facts) == 0
        if isKnown, facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 { return folder }
        close(folder)
        guard isKnown, facts.st_uid == geteuid() else {
            throw unfit("The folder \(path) belongs to somebody else; use one of yours, below $XDG_RUNTIME_DIR.")
        }
        throw unfit("Others may look into the folder \(path); use one that is yours alone: chmod 700 \(path)")
    }

    /// A file that this command left is replaced; anything else stays.
    private static func check(existing name: String, in folder: Int32, _ path: String) throws(BrokerClientError) {
        var facts = stat()
        guard fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        let isPlain = facts.st_mode & S_IFMT == S_IFREG && facts.st_nlink == 1 && facts.st_uid == geteuid()
        guard isPlain else {
            throw unfit("\(path) is a link or no plain file of yours; remove it, or name another place.")
        }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw unfit("\(path) is there and cannot be read; remove it, or name another place.") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        let count = read(file, &bytes, bytes.count)
        let isToken =
            facts.st_mode & 0o177 == 0 && (0...longest).contains(count)
            && bytes.prefix(max(0, count)).allSatisfy { (0x21...0x7E).contains($0) }
        guard isToken else {
            throw unfit("\(path) holds something that is no token; remove it, or name another place.")
        }
    }

    private static func unfit(_ message: String) -> BrokerClientError { BrokerClientError(.invalidParameter, message) }

    private func failed() -> BrokerClientError {
        BrokerClientError(
            .internal,
            "\(path) cannot be written: \(errnoText(errno)). Remove what stands there, or choose another place.")
    }
}
