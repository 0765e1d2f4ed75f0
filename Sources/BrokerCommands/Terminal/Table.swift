/// Rows in aligned columns. Cells are cleaned here, so that no caller can forget it.
package struct Table: Sendable {
    private let header: [String]
    private var rows: [[String]] = []

    package init(_ header: String...) { self.init(header) }

    init(_ header: [String]) { self.header = header }

    package mutating func add(_ cells: String...) { add(cells) }

    mutating func add(_ cells: [String]) { rows.append(cells.map(\.clean)) }

    /// - Parameter emphasis: how the header is set off.
    /// - Returns: the lines, each ended; no spaces at their ends.
    package func text(emphasis: (String) -> String = { $0 }) -> String {
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].columns }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            var line = ""
            for (cell, width) in zip(cells, widths) {
                line += cell + String(repeating: " ", count: width - cell.columns + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        return ([emphasis(line(header))] + rows.map(line)).map { $0 + "\n" }.joined()
    }
}

/// Names and values, one pair a line.
package struct Facts: Sendable {
    private var pairs: [(name: String, value: String)] = []

    package init() {}

    /// A fact without a value is left out.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append((name, value.clean)) }
    }

    /// - Parameter columns: where lines are cut off; a column less, for a full line would begin another.
    func lines(columns: Int, emphasis: (String) -> String) -> [String] {
        let width = pairs.map(\.name.columns).max() ?? 0
        return pairs.map { name, value in
            let gap = String(repeating: " ", count: width - name.columns + 2)
            return emphasis(name.cut(atColumn: columns - 1)) + (gap + value).cut(atColumn: columns - 1 - name.columns)
        }
    }

    package func text(emphasis: (String) -> String = { $0 }) -> String {
        let width = pairs.map(\.name.columns).max() ?? 0
        return pairs.map { name, value in
            emphasis(name) + String(repeating: " ", count: width - name.columns + 2) + value + "\n"
        }.joined()
    }
}
