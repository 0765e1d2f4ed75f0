import Glibc

/// `/proc/PID`, held open: once the process is gone every read through it fails, also when its number is used again.
struct ProcessFolder: ~Copyable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter pid: 0 is how a peer of another pid namespace looks.
    static func open(pid: Int32) -> ProcessFolder? {
        guard pid > 0 else { return nil }
        let descriptor = Glibc.open("/proc/\(pid)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return descriptor >= 0 ? ProcessFolder(descriptor: descriptor) : nil
    }

    deinit { close(descriptor) }

    var isAlive: Bool { read("stat", limit: 1) != nil }

    /// As `Uid:` of proc_pid_status(5) has it, which is readable for every process.
    var effectiveUID: UInt32? {
        guard let status = read("status", limit: 4096) else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("Uid:") {
            let numbers = line.dropFirst(4).split(separator: "\t")
            return numbers.count > 1 ? UInt32(numbers[1]) : nil
        }
        return nil
    }

    /// The target of one of the folder's links. Needs the right to ptrace the process.
    func link(_ name: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let count = readlinkat(descriptor, name, base, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
        }
    }

    /// Device and inode of what one of the folder's links leads to.
    func fileIdentity(_ name: String) -> FileIdentity? {
        var status = stat()
        return fstatat(descriptor, name, &status, 0) == 0 ? FileIdentity(status) : nil
    }

    /// The text of a regular file, without following a link at its end and without waiting for a writer.
    func read(_ path: String, limit: Int) -> String? {
        let file = openat(descriptor, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let room = min(limit - bytes.count, 16384)
            let part = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                count = max(Glibc.read(file, buffer.baseAddress, room), 0)
            }
            if part.isEmpty { break }
            bytes += part
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

struct FileIdentity: Equatable {
    var device: UInt
    var inode: UInt

    init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }
}
