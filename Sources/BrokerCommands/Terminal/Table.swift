import BrokerCommandLine

/// Rows in aligned columns, with text below each. Cells are cleaned here, so that callers cannot forget it.
///
/// On a narrow terminal, URLs lose their scheme and cells are shortened, except in the first column, which names the row; on
/// a narrower one, each row is a block of names and values, with nothing left out.
package struct Table: Sendable {
    private let header: [String]
    private var rows: [[String]] = []
    /// For each row, the indented lines below it.
    private var details: [[String]] = []
    /// The minimum width of columns whose minimum is not ``narrowest``.
    private var leasts: [Int: Int] = [:]

    /// The minimum width: the rest of a narrower cell would be meaningless.
    private static let narrowest = 8
    /// The minimum width of URLs, which often begin alike.
    private static let narrowestAddress = 20
    private static let schemes = ["https://", "http://"]

    package init(_ header: String...) { self.init(header) }

    init(_ header: [String]) { self.header = header }

    package mutating func add(_ cells: String...) { add(cells) }

    mutating func add(_ cells: [String], details: [String] = []) {
        rows.append(cells.map(\.clean))
        self.details.append(details.filter { !$0.isEmpty }.map(\.cleanWhole))
    }

    /// - Returns: the lines, with newlines and without trailing spaces.
    package func text(in layout: Layout = .plain) -> String {
        let short = layout.columns.map { Self.total(naturalWidths) > $0 } == true ? withoutSchemes() : self
        let widths = short.widths(within: layout.columns)
        let blocks = zip(rows, short.rows).map { row, shortRow in
            guard let widths else { return block(row, layout) }
            return Self.line(zip(shortRow, widths).map { $0.shortened(to: $1) }, widths) + "\n"
        }
        let parts = zip(blocks, details).map { $0 + $1.map { Self.detail($0, layout) }.joined() }
        guard let widths else { return parts.joined(separator: "\n") }
        return layout.style.strong(Self.line(header, widths)) + "\n" + parts.joined()
    }

    private func withoutSchemes() -> Table {
        var table = self
        for column in header.indices {
            for row in rows.indices {
                guard let scheme = Self.schemes.first(where: { rows[row][column].hasPrefix($0) }) else { continue }
                table.rows[row][column].removeFirst(scheme.count)
                table.leasts[column] = Self.narrowestAddress
            }
        }
        return table
    }

    private var naturalWidths: [Int] {
        header.indices.map { column in ([header] + rows).map { $0[column].columns }.max() ?? 0 }
    }

    private static func total(_ widths: [Int]) -> Int { widths.reduce(-2) { $0 + $1 + 2 } }

    /// - Returns: `nil` if the table does not fit into so few columns.
    private func widths(within columns: Int?) -> [Int]? {
        var widths = naturalWidths
        guard let columns else { return widths }
        let least = widths.indices.map {
            $0 == 0 ? widths[0] : min(widths[$0], max(header[$0].columns, leasts[$0] ?? Self.narrowest))
        }
        var excess = Self.total(widths) - columns
        while excess > 0 {
            let widest = widths.indices.filter { widths[$0] > least[$0] }.max { widths[$0] < widths[$1] }
            guard let widest else { return nil }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = zip(cells, widths).map { $0.padded(to: $1 + 2) }.joined()
        while line.last == " " { line.removeLast() }
        return line
    }

    private func block(_ row: [String], _ layout: Layout) -> String {
        var facts = Facts()
        for (name, cell) in zip(header, row) where !cell.isEmpty { facts.add(name, cell) }
        return facts.text(in: layout)
    }

    /// Wrapped even on a wide terminal, because longer lines are hard to read.
    private static func detail(_ text: String, _ layout: Layout) -> String {
        Layout(columns: min(80, layout.columns ?? 80)).prose("    " + text) + "\n"
    }
}

/// Names and values, one pair per line.
package struct Facts: Sendable {
    private var pairs: [(name: String, value: String)] = []

    package init() {}

    /// Ignores a fact without a value.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append((name, value.clean)) }
    }

    private var width: Int { pairs.map(\.name.columns).max() ?? 0 }

    /// One line per fact.
    ///
    /// - Parameter columns: the terminal's width; lines are one column shorter, because a full line would wrap.
    func lines(columns: Int, _ style: Style) -> [String] {
        pairs.map { name, value in
            let name = name.shortened(to: columns - 1)
            return style.strong(name)
                + ("".padded(to: width + 2 - name.columns) + value)
                .shortened(to: columns - 1 - name.columns)
        }
    }

    package func text(in layout: Layout = .plain) -> String {
        pairs.flatMap { layout.entry(layout.style.strong($0.name), width: width, [$0.value]) }.map { $0 + "\n" }
            .joined()
    }
}
