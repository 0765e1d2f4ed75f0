import CQREncode

/// A QR code symbol (ISO/IEC 18004): a square of dark and light modules.
package struct QRCode: Sendable {
    /// Modules on one side.
    package let size: Int
    private let dark: [Bool]

    /// - Parameter text: the text for a phone's camera.
    /// - Returns: `nil` if the text is empty or too long for a symbol, or no encoder is installed.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let count = Int32(exactly: bytes.count), count > 0, let symbol = broker_qr_encode(bytes, count) else {
            return nil
        }
        defer { broker_qr_free(symbol) }
        let size = Int(symbol.pointee.width)
        guard let modules = symbol.pointee.data else { return nil }
        self.size = size
        // The lowest bit is the colour; the others tell which part of the symbol a module belongs to.
        dark = UnsafeBufferPointer(start: modules, count: size * size).map { $0 & 1 == 1 }
    }

    /// Modules outside the symbol are light.
    package func isDark(row: Int, column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return dark[row * size + column]
    }
}
