import BrokerCommandLine
import Glibc
import Synchronization

/// A screen that is redrawn periodically, on the terminal's alternate screen.
final class LiveScreen: Sendable {
    private enum Code {
        static let begin = "\u{1B}[?1049h\u{1B}[?25l"
        static let end = "\u{1B}[?25h\u{1B}[?1049l"
        static let home = "\u{1B}[H"
        static let restOfLine = "\u{1B}[K"
        static let restOfScreen = "\u{1B}[J"
    }

    private let isOver = Mutex(false)

    /// `nil` if standard output is not a terminal, or a dumb one.
    init?() {
        guard StandardStream.output.terminalSize != nil, getenv("TERM").map({ String(cString: $0) }) != "dumb" else {
            return nil
        }
        StandardStream.output.write(Code.begin)
    }

    /// Stops drawing; may be called from any thread.
    func end() {
        isOver.withLock { isOver in
            if !isOver { StandardStream.output.write(Code.end) }
            isOver = true
        }
    }

    /// Redraws the screen, cut to the terminal's current size.
    func draw(_ facts: Facts, _ style: Style) {
        guard let size = StandardStream.output.terminalSize else { return }
        let lines = facts.lines(columns: size.columns, style).prefix(size.rows)
        let text = lines.map { $0 + Code.restOfLine }.joined(separator: "\r\n")
        isOver.withLock { if !$0 { StandardStream.output.write(Code.home + text + Code.restOfScreen) } }
    }
}
