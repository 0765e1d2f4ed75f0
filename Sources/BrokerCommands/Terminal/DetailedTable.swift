/// Rows in aligned columns with text below each, which is broken into lines of at most 80 columns.
struct DetailedTable {
    private var table: Table
    private var details: [[String]] = []

    init(_ header: String...) { table = Table(header) }

    mutating func add(_ cells: [String], details: [String]) {
        table.add(cells)
        self.details.append(details)
    }

    func text(emphasis: (String) -> String) -> String {
        var lines = table.text(emphasis: emphasis).split(separator: "\n", omittingEmptySubsequences: false)[...]
        var text = (lines.popFirst() ?? "") + "\n"
        for below in details {
            text += (lines.popFirst() ?? "") + "\n"
            for line in below where !line.isEmpty { text += Self.wrapped(line.clean) }
        }
        return String(text)
    }

    private static func wrapped(_ text: String) -> String {
        let indentation = "    "
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.columns + 1 + String(word).columns <= 80 {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(indentation + word)
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
