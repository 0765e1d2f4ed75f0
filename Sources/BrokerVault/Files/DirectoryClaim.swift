import BrokerModel
import Glibc

/// The right to work on a state directory; at most one process has it, and it ends with the process however that ends.
final class DirectoryClaim: Sendable {
    static let fileName = "vault.lock"
    private let descriptor: Int32

    /// - Throws: ``VaultError/inUse(_:)`` when another broker has it.
    init(on directory: StateDirectory) throws(VaultError) {
        let path = "\(directory.path)/\(Self.fileName)"
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(directory.descriptor, Self.fileName, flags, 0o600)
        guard descriptor >= 0 else {
            let number = errno
            guard number != ELOOP else { throw .notPrivate("\(path) is a symbolic link. Remove it.") }
            throw directory.failure(number, "open", Self.fileName)
        }
        // flock belongs to the open file, so a second vault in this process is kept out as well.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(descriptor)
            guard number == EWOULDBLOCK else { throw directory.failure(number, "lock", Self.fileName) }
            throw .inUse(
                "Another broker works on \(directory.path). Stop it, or give this one a --state-dir of its own.")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
