/// Searches byte by byte: a combining mark cannot hide a match, as it would in a search by characters. Swift's own search brings
/// its regular expressions along, a megabyte of program (decision 1).
extension Substring {
    /// - Parameter text: whole scalars, as in every string.
    package func firstRange(ofText text: String) -> Range<Index>? {
        let (bytes, wanted) = (utf8, text.utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: wanted) }) else { return nil }
        return start..<bytes.index(start, offsetBy: wanted.count)
    }

    package func lastRange(ofText text: String) -> Range<Index>? {
        let (bytes, wanted) = (utf8, text.utf8)
        guard let start = bytes.indices.last(where: { bytes[$0...].starts(with: wanted) }) else { return nil }
        return start..<bytes.index(start, offsetBy: wanted.count)
    }

    package func holds(_ text: String) -> Bool { firstRange(ofText: text) != nil }
}

extension String {
    package func firstRange(ofText text: String) -> Range<Index>? { self[...].firstRange(ofText: text) }

    package func lastRange(ofText text: String) -> Range<Index>? { self[...].lastRange(ofText: text) }

    package func holds(_ text: String) -> Bool { self[...].holds(text) }

    /// Replaces each occurrence of a text.
    package func replacing(text: String, with other: String) -> String {
        var (result, rest) = ("", self[...])
        while !text.isEmpty, let place = rest.firstRange(ofText: text) {
            result += rest[..<place.lowerBound] + other
            rest = rest[place.upperBound...]
        }
        return result + rest
    }
}
