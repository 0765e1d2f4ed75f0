import BrokerSystem
import Glibc
import Synchronization

/// Standard output or standard error, unbuffered, so that a waiting reader gets text at once.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    /// The errno of lost standard output: a script must not take half a token for a whole one.
    static let lostOutput = Atomic<Int32>(0)

    let descriptor: Int32

    /// Occupies standard streams that the caller closed, so that no socket or file gets their descriptors and thus text for
    /// a terminal. Reading and writing fails, as on a closed stream.
    static func keepDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // open() returns the lowest free number, and all lower ones are in use by now.
            _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes everything, unless writing fails.
    package func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        guard !writeAll(bytes, to: descriptor), descriptor == STDOUT_FILENO else { return }
        Self.lostOutput.store(errno, ordering: .relaxed)
    }
}
