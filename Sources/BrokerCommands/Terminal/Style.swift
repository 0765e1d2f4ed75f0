import Glibc

/// Emphasis, if a terminal supports it (https://no-color.org).
struct Style: Sendable {
    let isOn: Bool

    static func of(_ stream: StandardStream) -> Style {
        func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        return Style(isOn: stream.isTerminal && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb")
    }

    func strong(_ text: String) -> String { wrap(text, "1") }
    func alarm(_ text: String) -> String { wrap(text, "31") }

    private func wrap(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
