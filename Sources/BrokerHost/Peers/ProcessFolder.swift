import BrokerValues
import CBrokerLinux
import Glibc

/// The result of reading one fact about a process.
enum ProcessReading<Value> {
    case value(Value)
    /// The kernel denies access: another user's process, or one that made itself undumpable.
    case denied
    /// The process has ended, or the fact is not available for another reason, or is not usable as text.
    case gone

    /// An unusable value counts as missing.
    static func usable(_ value: Value?) -> Self { value.map { .value($0) } ?? .gone }

    var value: Value? { if case .value(let value) = self { value } else { nil } }
}

/// `/proc/PID`, held open: once the process is gone every read through it fails, even if its number is reused.
struct ProcessFolder: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter pid: 0 for a peer of another pid namespace.
    static func open(pid: Int32) -> ProcessFolder? {
        guard pid > 0 else { return nil }
        let descriptor = broker_open_folder(AT_FDCWD, "/proc/\(pid)")
        return descriptor >= 0 ? ProcessFolder(descriptor: descriptor) : nil
    }

    deinit { close(descriptor) }

    /// The effective uid and gid: the folder itself stays the process's own when its files become root's (PR_SET_DUMPABLE).
    var owner: (uid: UInt32, gid: UInt32)? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? (status.st_uid, status.st_gid) : nil
    }

    /// The process that started it, or that adopted it.
    var parent: Int32? { statField(4).flatMap { Int32($0) } }

    /// One of the fields of `stat` by its number in proc_pid_stat(5), from the third on. The program's name may contain anything,
    /// so the fields are counted after it.
    func statField(_ number: Int) -> Substring? {
        guard let text = text("stat", limit: 4096).value, let end = text.lastIndex(of: ")") else { return nil }
        let rest = text[end...].split(separator: " ")
        return number - 2 < rest.count ? rest[number - 2] : nil
    }

    /// The text of one of the folder's links. Needs the right to ptrace the process; the link's target is not accessed.
    func link(_ name: String) -> ProcessReading<String> {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let base = buffer.baseAddress else { return .gone }
            let count = readlinkat(descriptor, name, base, buffer.count)
            guard count > 0, count < buffer.count else {
                return count < 0 && (errno == EACCES || errno == EPERM) ? .denied : .gone
            }
            return .usable(String(foreign: UnsafeRawBufferPointer(buffer).prefix(count)))
        }
    }

    /// The beginning of one of the folder's own files.
    ///
    /// - Parameters:
    ///   - limit: bytes to read at most.
    ///   - body: called with the bytes read.
    func read<Value>(
        _ name: String, limit: Int, _ body: (UnsafeRawBufferPointer) -> ProcessReading<Value>
    ) -> ProcessReading<Value> {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return errno == EACCES || errno == EPERM ? .denied : .gone }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
            var count = 0
            while count < limit {
                let part = Glibc.read(file, buffer.baseAddress?.advanced(by: count), limit - count)
                guard part >= 0 else { return .gone }
                if part == 0 { break }
                count += part
            }
            return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The beginning of one of the folder's own files as text for searching: bytes that are not UTF-8 become U+FFFD.
    func text(_ name: String, limit: Int) -> ProcessReading<String> {
        read(name, limit: limit) { $0.isEmpty ? .gone : .value(String(decoding: $0, as: UTF8.self)) }
    }
}
