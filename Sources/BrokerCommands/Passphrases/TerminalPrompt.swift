import BrokerCommandLine
import Glibc

/// A question on the terminal, independent of standard input and output.
enum TerminalPrompt {
    private static let longest = 1024

    /// - Parameter hidden: whether to turn off echo; a terminal that cannot do so counts as none.
    /// - Returns: the answer; empty if there is none, `nil` without a terminal.
    static func line(_ prompt: String, hidden: Bool = false) -> String? {
        // A process without a controlling terminal may have one as its standard input.
        let own = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        let terminal = own >= 0 ? own : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        guard isatty(terminal) == 1 else { return nil }
        // Discards input typed before the question.
        guard !hidden else {
            Interrupt.endUnlessHandled()
            return TerminalMode.withoutEcho(on: terminal) { ask(prompt, on: terminal) }
        }
        tcflush(terminal, TCIFLUSH)
        return ask(prompt, on: terminal)
    }

    private static func ask(_ prompt: String, on terminal: Int32) -> String {
        let prompt = Layout.of(StandardStream(descriptor: terminal)).prose(prompt)
        prompt.withCString { _ = write(terminal, $0, strlen($0)) }
        return line(from: terminal) ?? ""
    }

    /// One whole line, including blanks; `nil` if it is empty or not UTF-8.
    static func line(from descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(longest)
        var byte: UInt8 = 0
        while bytes.count < longest, read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }
}
