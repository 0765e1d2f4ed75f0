extension String {
    /// The width on a terminal: two columns for East Asian wide characters and emoji, none for combining marks and emphasis
    /// (``Style``).
    package var columns: Int {
        var isEmphasis = false
        return reduce(0) { sum, character in
            if character == "\u{1B}" { isEmphasis = true }
            defer { if character == "m" { isEmphasis = false } }
            return sum + (isEmphasis ? 0 : character.columns)
        }
    }

    /// The text, padded with trailing spaces to this width.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// The text, cut to this width, with an ellipsis if it was longer.
    package func shortened(to width: Int) -> String {
        guard columns > width else { return self }
        return width > 0 ? cut(atColumn: width - 1) + "…" : ""
    }

    private func cut(atColumn end: Int) -> String {
        var column = 0
        return String(
            prefix { character in
                column += character.columns
                return column <= end
            })
    }
}

extension Character {
    fileprivate var columns: Int { unicodeScalars.map(\.columns).max() ?? 0 }
}

extension Unicode.Scalar {
    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return Self.wide.contains { $0.contains(value) } ? 2 : 1
        }
    }

    /// Wide and full-width blocks (Unicode Standard Annex 11), approximately.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
