/// A QR code in half-block characters, each for two modules, one above the other.
package struct TerminalQRCode: Sendable {
    private let code: QRCode
    private let quietZone: Int

    /// Light modules around the symbol, best first: the standard requires four (ISO/IEC 18004, section 6.3.8), and phones
    /// accept two.
    package static let quietZones = [4, 2]

    package init(_ code: QRCode, quietZone: Int = 4) {
        self.code = code
        self.quietZone = quietZone
    }

    /// Its width in columns.
    package var width: Int { code.size + 2 * quietZone }
    /// Its height in rows: one character holds two modules.
    package var height: Int { (width + 1) / 2 }

    /// Draws light modules and leaves dark ones blank: correct on a dark terminal as it is, and on every terminal with
    /// colours set.
    ///
    /// - Parameter setsColours: whether to set white on black.
    package func lines(setsColours: Bool) -> [String] {
        let rows = -quietZone..<(code.size + quietZone)
        return stride(from: rows.lowerBound, to: rows.upperBound, by: 2).map { row in
            let text = rows.map { column in
                let upper = !code.isDark(row: row, column: column)
                // There is nothing below the last row.
                let lower = row + 1 < rows.upperBound && !code.isDark(row: row + 1, column: column)
                return upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }.joined()
            return setsColours ? "\u{1B}[97;40m\(text)\u{1B}[0m" : text
        }
    }
}
