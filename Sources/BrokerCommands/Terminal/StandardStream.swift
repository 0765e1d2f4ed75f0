import Glibc
import Synchronization

/// Standard output or standard error, unbuffered: what a reader on the other end waits for arrives at once.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    /// Why something of standard output was lost, an errno: a script must not take half a token for one.
    static let lostOutput = Atomic<Int32>(0)

    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes all of it, unless nobody takes it.
    package func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let count = Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                if count > 0 {
                    written += count
                } else if errno != EINTR {
                    if descriptor == STDOUT_FILENO { Self.lostOutput.store(errno, ordering: .relaxed) }
                    return
                }
            }
        }
    }
}
