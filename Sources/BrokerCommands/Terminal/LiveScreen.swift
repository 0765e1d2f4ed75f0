import Glibc
import Synchronization

/// A screen that is drawn again and again. It lies over what the terminal showed, which is there again at the end.
final class LiveScreen: Sendable {
    private enum Code {
        static let begin = "\u{1B}[?1049h\u{1B}[?25l"
        static let end = "\u{1B}[?25h\u{1B}[?1049l"
        static let home = "\u{1B}[H"
        static let restOfLine = "\u{1B}[K"
        static let restOfScreen = "\u{1B}[J"
    }

    private let isOver = Mutex(false)

    /// Nil where standard output is no terminal, or one that can only print.
    init?() {
        guard StandardStream.output.terminalSize != nil, getenv("TERM").map({ String(cString: $0) }) != "dumb" else {
            return nil
        }
        StandardStream.output.write(Code.begin)
    }

    /// From any thread; nothing is drawn any more.
    func end() {
        isOver.withLock { isOver in
            if !isOver { StandardStream.output.write(Code.end) }
            isOver = true
        }
    }

    /// Draws over what was there. What the terminal has no room for, as wide and as high as it is now, is left out.
    func draw(_ facts: Facts, _ style: Style) {
        guard let size = StandardStream.output.terminalSize else { return }
        let lines = facts.lines(columns: size.columns, style).prefix(size.rows)
        let text = lines.map { $0 + Code.restOfLine }.joined(separator: "\r\n")
        isOver.withLock { if !$0 { StandardStream.output.write(Code.home + text + Code.restOfScreen) } }
    }
}
