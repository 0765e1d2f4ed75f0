extension String {
    /// Puts a text in the place of each occurrence of a scalar, for texts that somebody reads who knows no characters: a shell,
    /// a log. A mark that follows a scalar makes another character of both, so that a search by characters passes over what has
    /// to be escaped.
    package func replacing(scalar: Unicode.Scalar, with other: String) -> String {
        var result = UnicodeScalarView()
        for next in unicodeScalars {
            if next == scalar { result.appendEach(of: other) } else { result.append(next) }
        }
        return String(result)
    }
}

extension String.UnicodeScalarView {
    /// Appends one by one: `append(contentsOf:)` reserves no more room than it needs, so that many short texts in turn copy all that
    /// is there each time.
    mutating func appendEach(of text: String) {
        for scalar in text.unicodeScalars { append(scalar) }
    }
}
