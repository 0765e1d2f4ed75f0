/// Searches byte by byte: a combining mark cannot hide a match, as it would in a search by characters. Swift's own search brings
/// its regular expressions along, a megabyte of program (decision 1).
extension StringProtocol {
    /// - Parameter text: whole scalars, as in every string.
    package func firstRange(ofText text: String) -> Range<Index>? {
        let wanted = text.utf8
        guard let start = utf8.indices.first(where: { utf8[$0...].starts(with: wanted) }) else { return nil }
        return start..<utf8.index(start, offsetBy: wanted.count)
    }

    package func lastRange(ofText text: String) -> Range<Index>? {
        let wanted = text.utf8
        let starts = utf8.indices.filter { utf8[$0...].starts(with: wanted) }
        return starts.last.map { $0..<utf8.index($0, offsetBy: wanted.count) }
    }

    package func holds(_ text: String) -> Bool { firstRange(ofText: text) != nil }
}

extension String {
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
