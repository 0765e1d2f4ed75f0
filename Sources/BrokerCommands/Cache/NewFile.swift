import BrokerLink
import BrokerSystem
import Glibc

/// A file that appears at its path complete and on disk, or not at all.
final class NewFile {
    private let path: String
    private let isReplacing: Bool
    private let mode: mode_t
    private var temporary: String
    private let descriptor: Int32
    private(set) var count = 0

    /// - Parameter mode: applies once the file is complete; until then it is private.
    /// - Throws: if the file already exists and is not to be replaced.
    init(at path: String, replacing isReplacing: Bool, mode: mode_t = 0o600) throws(BrokerClientError) {
        self.mode = mode
        self.path = path
        self.isReplacing = isReplacing
        try Self.check(path, replacing: isReplacing)
        // In the same folder: rename() cannot cross file systems.
        let name = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        descriptor = makePrivateFile(name)
        temporary = descriptor < 0 ? "" : name
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    static func check(_ path: String, replacing isReplacing: Bool) throws(BrokerClientError) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard isReplacing else { throw taken(path) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw BrokerClientError(
                .invalidParameter, "\(path) is not a regular file, and is left as it is; name a file, not a link to it."
            )
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !temporary.isEmpty { unlink(temporary) }
    }

    func write(_ bytes: some Sequence<UInt8>) throws(BrokerClientError) {
        let bytes = Array(bytes)
        guard writeAll(bytes, to: descriptor) else { throw Self.failure(path) }
        count += bytes.count
    }

    /// Gives the file its name.
    func publish() throws(BrokerClientError) {
        guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw Self.failure(path) }
        if isReplacing {
            guard rename(temporary, path) == 0 else { throw Self.failure(path) }
            temporary = ""
        } else if link(temporary, path) != 0 {
            // rename() would replace a file created in the meantime; on file systems without links, a check has to suffice.
            let number = errno
            guard number != EEXIST, !Self.exists(path) else { throw Self.taken(path) }
            guard rename(temporary, path) == 0 else { throw Self.failure(path) }
            temporary = ""
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard place >= 0 else { return }
        fsync(place)
        close(place)
    }

    private static func exists(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0
    }

    private static func taken(_ path: String) -> BrokerClientError {
        BrokerClientError(.invalidParameter, "\(path) already exists; name another file, or replace it with --force.")
    }

    private static func failure(_ path: String) -> BrokerClientError {
        BrokerClientError(.invalidParameter, "\(path) cannot be written: \(errnoText(errno)). No partial file is left.")
    }
}
