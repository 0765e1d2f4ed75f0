/// Files of one target that refer to each other in a circle, by the types that they name. An extension names the type that it
/// extends.
struct FileCycles {
    /// For each file, the files whose types it names, and those types.
    private(set) var references: [String: [String: Set<String>]] = [:]
    /// Each is a largest set of files that all reach each other.
    private(set) var cycles: [[String]] = []

    init(_ files: [SourceFile]) {
        let names = files.map { (path: $0.path, types: TypeNames($0.text)) }
        var homes: [TypeNames.Name: Set<String>] = [:]
        for (path, types) in names { for name in types.shared { homes[name, default: []].insert(path) } }
        for (path, types) in names { references[path] = Self.references(of: types, in: path, homes) }
        findCycles()
    }

    private static func references(
        of types: TypeNames, in path: String, _ homes: [TypeNames.Name: Set<String>]
    ) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for use in types.uses {
            // As the compiler does: the innermost scope that has the name counts.
            let depth = (0...use.scope.count).reversed().first { depth in
                let name = use.scope.prefix(depth) + use.name.prefix(1)
                return types.own.contains(Array(name)) || homes[Array(name)] != nil
            }
            guard let depth else { continue }
            for length in 1...use.name.count {
                let name = Array(use.scope.prefix(depth) + use.name.prefix(length))
                guard !types.own.contains(name) else { continue }
                for home in homes[name] ?? [] where home != path {
                    found[home, default: []].insert(name.joined(separator: "."))
                }
            }
        }
        return found
    }

    /// Tarjan's algorithm.
    private mutating func findCycles() {
        var search = Search()
        for path in references.keys.sorted() where search.numbers[path] == nil { search.visit(path, references) }
        cycles = search.cycles.sorted { $0.count > $1.count }
    }

    private struct Search {
        var numbers: [String: Int] = [:]
        /// The lowest number of an open file that each one reaches.
        var lowest: [String: Int] = [:]
        var open: [String] = []
        var isOpen: Set<String> = []
        var cycles: [[String]] = []

        mutating func visit(_ path: String, _ references: [String: [String: Set<String>]]) {
            let number = numbers.count
            (numbers[path], lowest[path]) = (number, number)
            open.append(path)
            isOpen.insert(path)
            for other in (references[path] ?? [:]).keys.sorted() {
                if numbers[other] == nil {
                    visit(other, references)
                    lowest[path] = min(lowest[path, default: 0], lowest[other, default: 0])
                } else if isOpen.contains(other) {
                    lowest[path] = min(lowest[path, default: 0], numbers[other, default: 0])
                }
            }
            guard lowest[path] == number, let start = open.lastIndex(of: path) else { return }
            let cycle = Array(open[start...])
            open.removeSubrange(start...)
            isOpen.subtract(cycle)
            if cycle.count > 1 { cycles.append(cycle.sorted()) }
        }
    }
}

extension FileCycles: CustomStringConvertible {
    /// A line for each file in a cycle: the files of the same cycle that it names, and by which types.
    var description: String {
        cycles.map { cycle in
            cycle.map { path in
                let others = (references[path] ?? [:]).filter { cycle.contains($0.key) }.sorted { $0.key < $1.key }
                let named = others.map { "\($0.key) (\($0.value.sorted().joined(separator: ", ")))" }
                return "\(path) → \(named.joined(separator: ", "))"
            }.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}
