import BrokerModel
import BrokerSystem
import Glibc
import Synchronization

/// An uploaded backup, still sealed, in a file without a name: the file disappears when the broker exits.
final class BackupFile: GatheredBackup, BackupSource {
    /// Far above the size of one user's backup.
    static let limit = 1 << 30

    /// The name until the file is unlinked. Not every file system supports `O_TMPFILE`.
    private static let name = "import-part"

    private let descriptor: Int32
    private let length = Mutex(0)

    init(in directory: StateDirectory) throws(BackupError) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var descriptor: Int32
        repeat {
            // A concurrent import may have its file unlinked here: it no longer needs the name.
            Self.removeName(in: directory)
            descriptor = openat(directory.descriptor, Self.name, flags, 0o600)
        } while descriptor < 0 && errno == EEXIST
        guard descriptor >= 0 else { throw Self.failure(errno) }
        Self.removeName(in: directory)
        self.descriptor = descriptor
    }

    /// Removes the empty file of a broker that was killed between the two steps.
    static func removeName(in directory: StateDirectory) { directory.removeIfPresent(name) }

    deinit { close(descriptor) }

    var count: Int { length.withLock { $0 } }

    func append(_ bytes: [UInt8]) throws(BackupError) {
        try length.withLock { length throws(BackupError) in
            guard length + bytes.count <= Self.limit else { throw BackupError.tooLarge(limit: Self.limit) }
            var done = 0
            while done < bytes.count {
                let count = bytes[done...].withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress, $0.count, off_t(length + done))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure(count < 0 ? errno : ENOSPC) }
                done += count
            }
            length += bytes.count
        }
    }

    /// - Returns: fewer bytes at the end of the file.
    func bytes(at offset: Int, count: Int) throws(BackupError) -> [UInt8] {
        let count = min(count, self.count - offset)
        guard count > 0 else { return [] }
        var failure: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let part = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset + filled))
                if part < 0, errno == EINTR { continue }
                if part < 0 { failure = errno }
                guard part > 0 else { return }
                filled += part
            }
        }
        if let failure { throw Self.failure(failure) }
        return bytes
    }

    private static func failure(_ number: Int32) -> BackupError {
        let text = "The broker cannot store the uploaded backup: \(errnoText(number))."
        return meansFull(number) ? .full(text + " Free some space, and import again.") : .io(text)
    }
}
