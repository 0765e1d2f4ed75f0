extension String {
    /// Replaces each occurrence of a scalar, for texts that are read without regard to grapheme clusters: a shell, a log. A
    /// combining mark after a scalar makes both one character, so that a search by characters would miss a scalar that has to be
    /// escaped.
    package func replacing(scalar: Unicode.Scalar, with other: String) -> String {
        var result = UnicodeScalarView()
        for next in unicodeScalars {
            if next == scalar { result.appendEach(of: other) } else { result.append(next) }
        }
        return String(result)
    }
}

extension String.UnicodeScalarView {
    /// Appends one by one: `append(contentsOf:)` reserves no more room than it needs, so that appending many short texts copies
    /// everything each time.
    mutating func appendEach(of text: String) {
        for scalar in text.unicodeScalars { append(scalar) }
    }
}
