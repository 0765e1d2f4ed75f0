import Foundation

/// A terminal as a picture (SVG), which types the commands and shows the output. Without animation everything is visible.
struct TerminalPicture {
    private enum Kind: String { case typed = "t", shown = "s" }
    private var lines: [(kind: Kind, text: String)] = []

    static let columns = 84

    mutating func type(_ command: [String]) {
        for (number, line) in command.enumerated() { lines.append((.typed, (number == 0 ? "$ " : "    ") + line)) }
    }

    /// Long lines wrap, as in a terminal.
    mutating func show(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var rest = line
            repeat {
                lines.append((.shown, String(rest.prefix(Self.columns))))
                rest = rest.dropFirst(Self.columns)
            } while !rest.isEmpty
        }
    }

    /// - Parameter title: for readers who cannot see the picture.
    func svg(title: String) -> String {
        let (cell, row, margin, bar) = (8.4, 20.0, 16.0, 34.0)
        let width = Int(Double(Self.columns) * cell + 2 * margin)
        let height = Int(bar + Double(lines.count) * row + margin)
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" role="img">
            <title>\(Self.escaped(title))</title>
            <style>
            text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, monospace; white-space: pre; fill: #c9d1d9 }
            .t { fill: #ffffff; font-weight: 600 }
            @keyframes come { from { opacity: 0 } to { opacity: 1 } }
            g text { animation: come .2s backwards }
            @media (prefers-reduced-motion: reduce) { g text { animation: none } }
            </style>
            <rect width="\(width)" height="\(height)" rx="8" fill="#161b22"/>
            <circle cx="20" cy="17" r="5" fill="#484f58"/><circle cx="38" cy="17" r="5" fill="#484f58"/>\
            <circle cx="56" cy="17" r="5" fill="#484f58"/>
            <g>

            """
        var seconds = 0.5
        for (number, line) in lines.enumerated() {
            seconds += line.kind == .typed ? 0.9 : 0.12
            let y = Int(bar + Double(number + 1) * row - 6)
            svg += """
                <text class="\(line.kind.rawValue)" x="\(Int(margin))" y="\(y)" xml:space="preserve" \
                style="animation-delay: \(String(format: "%.2f", seconds))s">\(Self.escaped(line.text))</text>

                """
        }
        return svg + "</g>\n</svg>\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
