import BrokerCommandLine

/// Rows in aligned columns with text below each.
struct DetailedTable {
    private var table: Table
    private var details: [[String]] = []

    init(_ header: String...) { table = Table(header) }

    mutating func add(_ cells: [String], details: [String]) {
        table.add(cells)
        self.details.append(details)
    }

    func text(in layout: Layout) -> String { table.text(in: layout, details: details) }
}
