import Glibc
import Synchronization

/// The modes of terminals that this program changes, which are restored at every exit, also by a signal.
enum TerminalMode {
    private struct Original {
        let terminal: Int32
        var mode: termios
    }

    private static let originals = Mutex<[Original]>([])
    private static let restoresAtExit: Void = { _ = atexit { TerminalMode.restore() } }()

    /// Switches the terminal to characters instead of lines, without echo.
    ///
    /// - Returns: `false` if standard input is not a terminal, or the program is in the background and may not change it.
    static func takeCharacters() -> Bool {
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return false }
        return change(STDIN_FILENO) { $0.c_lflag &= ~tcflag_t(ICANON | ECHO) }
    }

    /// Runs `body` while the terminal echoes only the end of a line; input typed before is discarded.
    ///
    /// - Returns: `nil` if the terminal cannot do so, and `body` does not run.
    static func withoutEcho<Result>(on terminal: Int32, _ body: () -> Result) -> Result? {
        let isHidden = change(terminal, discardingInput: true) {
            $0.c_lflag = $0.c_lflag & ~tcflag_t(ECHO) | tcflag_t(ECHONL)
        }
        defer { restore(terminal) }
        return isHidden ? body() : nil
    }

    private static func change(
        _ terminal: Int32, discardingInput: Bool = false, _ change: (inout termios) -> Void
    ) -> Bool {
        var mode = termios()
        guard tcgetattr(terminal, &mode) == 0 else { return false }
        _ = restoresAtExit
        let original = Original(terminal: terminal, mode: mode)
        originals.withLock { originals in
            if !originals.contains(where: { $0.terminal == terminal }) { originals.append(original) }
        }
        change(&mode)
        // Ctrl-\ and Ctrl-Z would leave the terminal as it is now: they do nothing meanwhile (_POSIX_VDISABLE is 0).
        withUnsafeMutableBytes(of: &mode.c_cc) { characters in
            for place in [VQUIT, VSUSP] { characters[Int(place)] = 0 }
        }
        return tcsetattr(terminal, discardingInput ? TCSAFLUSH : TCSANOW, &mode) == 0
    }

    static func restore() {
        originals.withLock { originals in
            for place in originals.indices { tcsetattr(originals[place].terminal, TCSANOW, &originals[place].mode) }
        }
    }

    /// Restores one terminal, which may be closed then.
    private static func restore(_ terminal: Int32) {
        originals.withLock { originals in
            guard let place = originals.firstIndex(where: { $0.terminal == terminal }) else { return }
            var original = originals.remove(at: place)
            tcsetattr(terminal, TCSAFLUSH, &original.mode)
        }
    }
}
