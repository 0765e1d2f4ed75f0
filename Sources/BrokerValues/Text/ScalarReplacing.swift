extension String {
    /// Puts a text in the place of each occurrence of a scalar, for texts that somebody reads who knows no characters: a shell,
    /// a log. A mark that follows a scalar makes another character of both, so that a search by characters passes over what has
    /// to be escaped.
    package func replacing(scalar: Unicode.Scalar, with other: String) -> String {
        var result = UnicodeScalarView()
        for next in unicodeScalars {
            if next == scalar { result.append(contentsOf: other.unicodeScalars) } else { result.append(next) }
        }
        return String(result)
    }
}
