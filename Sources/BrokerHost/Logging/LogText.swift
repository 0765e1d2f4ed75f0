/// Makes a value safe to print: a log line stays one line, and nothing in it steers a terminal.
package enum LogText {
    /// Control characters, line and paragraph separators and the marks that turn the writing direction are shown as
    /// `\u{…}`, so that a peer cannot forge an entry or hide one.
    ///
    /// - Parameter limit: scalars kept; what is cut off is marked by an ellipsis.
    package static func clean(_ text: String, limit: Int = 4096) -> String {
        var result = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == limit {
                result.append("…")
                break
            }
            if isHarmless(scalar) {
                result.append(scalar)
            } else {
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            }
        }
        return String(result)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7f: true
        case 0..<0x20, 0x7f..<0xa0: false
        case 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: false
        default: true
        }
    }
}
