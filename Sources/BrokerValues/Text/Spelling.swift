/// The similarity of two names, for "did you mean".
package enum Spelling {
    /// The end of a message about an unknown name; empty if no known name is close.
    package static func hint(for name: String, among known: [String]) -> String {
        closest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
    }

    package static func closest(to name: String, among known: [String]) -> String? {
        let closest = known.map { (name: $0, distance: distance(name, $0)) }.min { $0.distance < $1.distance }
        guard let closest, closest.distance <= min(4, max(name.count, closest.name.count) / 2) else { return nil }
        return closest.name
    }

    /// The Levenshtein distance: the number of insertions, deletions and replacements of single characters.
    package static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (i, a) in left.prefix(100).enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let above = row[j + 1]
                row[j + 1] = min(above + 1, row[j] + 1, diagonal + (a == b ? 0 : 1))
                diagonal = above
            }
        }
        return row.last ?? 0
    }
}
