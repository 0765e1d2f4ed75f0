import Glibc
import Synchronization

/// Standard output or standard error, unbuffered: what a reader on the other end waits for arrives at once.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    /// Why something of standard output was lost, an errno: a script must not take half a token for one.
    static let lostOutput = Atomic<Int32>(0)

    let descriptor: Int32

    /// Takes the place of standard streams that the caller closed, so that no socket or file gets their numbers, and with
    /// them what was meant for a terminal. Reading and writing there fails, as on a closed one.
    static func keepDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is given out, and those below are taken by now.
            _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes all of it, unless nobody takes it.
    package func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        guard !writeAll(bytes, to: descriptor), descriptor == STDOUT_FILENO else { return }
        Self.lostOutput.store(errno, ordering: .relaxed)
    }
}
