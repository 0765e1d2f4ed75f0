/// A QR code in half-block characters, two modules one above the other in each.
package struct TerminalQRCode: Sendable {
    private let code: QRCode

    /// Light modules around the symbol, which readers need (ISO/IEC 18004, section 6.3.8).
    private static let quietZone = 4

    package init(_ code: QRCode) { self.code = code }

    /// Columns it takes.
    package var width: Int { code.size + 2 * Self.quietZone }

    /// Light modules are drawn and dark ones left out: right on a dark terminal as it is, and on every terminal with the
    /// colours set.
    ///
    /// - Parameter setsColours: whether to say that blocks are white on black.
    package func lines(setsColours: Bool) -> [String] {
        let rows = -Self.quietZone..<(code.size + Self.quietZone)
        return stride(from: rows.lowerBound, to: rows.upperBound, by: 2).map { row in
            let text = rows.map { column in
                let upper = !code.isDark(row: row, column: column)
                // Below the last row there is nothing to draw.
                let lower = row + 1 < rows.upperBound && !code.isDark(row: row + 1, column: column)
                return upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }.joined()
            return setsColours ? "\u{1B}[97;40m\(text)\u{1B}[0m" : text
        }
    }
}
