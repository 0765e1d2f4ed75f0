/// Emphasis, if a terminal supports it (https://no-color.org).
package struct Style: Sendable {
    package let isOn: Bool

    package init(isOn: Bool) { self.isOn = isOn }

    package func strong(_ text: String) -> String { wrap(text, "1") }
    package func alarm(_ text: String) -> String { wrap(text, "31") }

    private func wrap(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
