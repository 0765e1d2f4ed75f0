/// A QR code in half-block characters, two modules one above the other in each.
package struct TerminalQRCode: Sendable {
    private let code: QRCode
    private let quietZone: Int

    /// Light modules around the symbol, best first: the standard asks for four (ISO/IEC 18004, section 6.3.8), and phones
    /// read it with two.
    package static let quietZones = [4, 2]

    package init(_ code: QRCode, quietZone: Int = 4) {
        self.code = code
        self.quietZone = quietZone
    }

    /// Columns it takes.
    package var width: Int { code.size + 2 * quietZone }
    /// Rows it takes: two modules stand in one character.
    package var height: Int { (width + 1) / 2 }

    /// Light modules are drawn and dark ones left out: right on a dark terminal as it is, and on every terminal with the
    /// colours set.
    ///
    /// - Parameter setsColours: whether to say that blocks are white on black.
    package func lines(setsColours: Bool) -> [String] {
        let rows = -quietZone..<(code.size + quietZone)
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
