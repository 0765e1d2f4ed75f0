import BrokerModel
import BrokerSystem
import Glibc
import Synchronization

/// A backup as it came in parts, sealed still: in a file without a name, which ends with the broker.
final class BackupFile: GatheredBackup, BackupSource {
    /// Far above what one person has.
    static let limit = 1 << 30

    private let descriptor: Int32
    private let length = Mutex(0)

    init(in directory: StateDirectory) throws(BackupError) {
        let name = "import-" + Secret.random(count: 16).withBytes { [UInt8]($0) }.hexadecimal
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(directory.descriptor, name, flags, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        unlinkat(directory.descriptor, name, 0)
        self.descriptor = descriptor
    }

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

    /// - Returns: fewer bytes where the file ends.
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
        let text = "The broker cannot keep the backup while it reads it: \(errnoText(number))."
        return SQLiteFailure.meansFull(number) ? .full(text + " Free some space, and import again.") : .io(text)
    }
}
