import BrokerCommandLine
import Glibc

/// In characters.
package struct TerminalSize: Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

extension StandardStream {
    /// `nil` if it is not a terminal, or its size is unknown.
    var terminalSize: TerminalSize? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}

package enum Locale {
    /// Whether output is UTF-8 (POSIX, section 8.2: the first of these variables that is set counts).
    ///
    /// - Parameter variable: returns an environment variable's value.
    package static func isUTF8(_ variable: (String) -> String?) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(variable).first { !$0.isEmpty } ?? ""
        let codeset = locale.split(separator: ".", maxSplits: 1).dropFirst().first?.lowercased() ?? ""
        return codeset.hasPrefix("utf-8") || codeset.hasPrefix("utf8")
    }

    static var isUTF8: Bool { isUTF8 { getenv($0).map { String(cString: $0) } } }
}
