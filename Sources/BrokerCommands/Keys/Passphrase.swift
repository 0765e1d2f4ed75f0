import BrokerClient
import Glibc

/// A passphrase as a person types or pipes it: all of one line, blanks included.
enum Passphrase {
    private static let longest = 1024

    static func fromStandardInput() throws(BrokerClientError) -> String {
        guard let line = line(from: STDIN_FILENO) else {
            throw BrokerClientError(
                .invalidParameter, "Standard input holds no passphrase; put it there as one line of text.")
        }
        return line
    }

    /// Asks on the terminal, wherever standard input and output go, and shows nothing of what is typed.
    static func fromTerminal(_ prompt: String) throws(BrokerClientError) -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw BrokerClientError(
                .invalidParameter,
                "There is no terminal to ask for the passphrase; give it on standard input with --stdin.")
        }
        defer { close(terminal) }
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else {
            throw BrokerClientError(.invalidParameter, "The terminal cannot hide what is typed; use --stdin.")
        }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ECHONL)
        // What was typed before the question is no answer to it.
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer { tcsetattr(terminal, TCSAFLUSH, &settings) }
        prompt.withCString { _ = write(terminal, $0, strlen($0)) }
        guard let line = line(from: terminal) else {
            throw BrokerClientError(.invalidParameter, "No passphrase was given; run the command again.")
        }
        return line
    }

    /// Twice: what was mistyped could never be typed again.
    static func newFromTerminal() throws(BrokerClientError) -> String {
        let first = try fromTerminal("New passphrase of the broker: ")
        guard try fromTerminal("The same again: ") == first else {
            throw BrokerClientError(.invalidParameter, "The two differ; nothing was changed. Run the command again.")
        }
        return first
    }

    private static func line(from descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(longest)
        var byte: UInt8 = 0
        while bytes.count < longest, read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }
}
