import BrokerSystem
import Glibc

/// Standard input, line by line.
///
/// A terminal in canonical mode keeps 4,095 bytes of a line and drops the rest (termios(3)); a redirect can be longer. The
/// terminal is therefore put into character mode, and its line editing is done here: echo, Backspace, Ctrl-U, Ctrl-D.
/// Ctrl-C is left to it; Ctrl-Z and Ctrl-\ are off (``TerminalMode``).
final class TerminalInput {
    /// The maximum size of a request.
    private static let longest = 1 << 20

    private let isTerminal: Bool

    /// - Parameter isTerminal: the result of ``TerminalMode/takeCharacters()``.
    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// For a command that only waits for the input: a signal restores the terminal and ends the program.
    convenience init() {
        Interrupt.endUnlessHandled()
        self.init(isTerminal: TerminalMode.takeCharacters())
    }

    deinit { if isTerminal { TerminalMode.restore() } }

    /// The next line, without its end; `nil` at the end of input.
    func next() -> String? {
        guard isTerminal else { return StandardInput.line() }
        var line: [UInt8] = []
        while let byte = StandardInput.byte() {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                echo([UInt8(ascii: "\n")])
                return text(line)
            case Key.endOfInput where line.isEmpty: return nil
            case Key.endOfInput: continue
            case Key.delete, Key.backspace: erase(1, of: &line)
            case Key.kill: erase(.max, of: &line)
            case 0..<0x20: continue
            default:
                guard line.count < Self.longest else { continue }
                line.append(byte)
                echo([byte])
            }
        }
        return line.isEmpty ? nil : text(line)
    }

    private enum Key {
        static let endOfInput: UInt8 = 0x04
        static let backspace: UInt8 = 0x08
        static let kill: UInt8 = 0x15
        static let delete: UInt8 = 0x7f
    }

    private func erase(_ count: Int, of line: inout [UInt8]) {
        var left = count
        while left > 0, !line.isEmpty {
            // Removes all bytes of the character.
            while let last = line.popLast(), last & 0xc0 == 0x80 {}
            echo(Array("\u{8} \u{8}".utf8))
            left -= 1
        }
    }

    /// Never into a file: pasted text contains a code.
    private func echo(_ bytes: [UInt8]) {
        if StandardStream.error.isTerminal { StandardStream.error.write(bytes) }
    }

    private func text(_ line: [UInt8]) -> String { String(decoding: line, as: UTF8.self) }
}

extension StandardInput {
    /// The lines until the end of input, read on a separate thread, which outlives the stream: a read from a terminal cannot
    /// be cancelled. This call puts the terminal into character mode, so make it before asking the user to type.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            let isTerminal = TerminalMode.takeCharacters()
            let status = DetachedThread.start {
                let input = TerminalInput(isTerminal: isTerminal)
                while let line = input.next() {
                    if case .terminated = continuation.yield(line) { return }
                }
                continuation.finish()
            }
            if status != 0 { continuation.finish() }
        }
    }
}
