import Glibc
import Synchronization

/// The terminal's mode, which is restored at every exit.
enum TerminalMode {
    /// The original mode; `nil` if unchanged.
    private static let before = Mutex<termios?>(nil)

    /// Switches the terminal to characters instead of lines, without echo.
    ///
    /// - Returns: `false` if standard input is not a terminal, or the program is in the background and may not change it.
    static func takeCharacters() -> Bool {
        var mode = termios()
        guard tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &mode) == 0 else { return false }
        let isFirst = before.withLock { before in
            defer { before = before ?? mode }
            return before == nil
        }
        if isFirst { atexit { TerminalMode.restore() } }
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        return tcsetattr(STDIN_FILENO, TCSANOW, &mode) == 0
    }

    static func restore() {
        guard var mode = before.withLock({ $0 }) else { return }
        tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    }
}
