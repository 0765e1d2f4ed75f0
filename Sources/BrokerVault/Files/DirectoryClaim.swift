import BrokerModel
import Glibc

/// The lock on a state directory; at most one process holds it, and the kernel releases it when the process ends.
package final class DirectoryClaim: Sendable {
    package static let fileName = "vault.lock"
    private let descriptor: Int32

    /// - Throws: ``VaultError/inUse(_:)`` if another broker holds it.
    package init(on directory: StateDirectory) throws(VaultError) {
        let path = "\(directory.path)/\(Self.fileName)"
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(directory.descriptor, Self.fileName, flags, 0o600)
        guard descriptor >= 0 else {
            let number = errno
            guard number != ELOOP else { throw .notPrivate("\(path) is a symbolic link. Remove it.") }
            throw directory.failure(number, "open", Self.fileName)
        }
        guard Self.lock(descriptor) else {
            let number = errno
            close(descriptor)
            guard number == EWOULDBLOCK else { throw directory.failure(number, "lock", Self.fileName) }
            throw .inUse(
                "Another broker works on \(directory.path). Stop it, or give this one a --state-dir of its own.")
        }
        self.descriptor = descriptor
    }

    /// A program that the previous broker was about to start shares its files for a moment, even after that broker was killed.
    private static let patience = Duration.seconds(1)

    /// flock belongs to the open file, so a second vault in this process is kept out as well.
    ///
    /// - Returns: false with `errno` set.
    private static func lock(_ descriptor: Int32) -> Bool {
        let deadline = ContinuousClock.now + patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < deadline else { return false }
            usleep(10_000)
        }
        return true
    }

    deinit { close(descriptor) }
}
