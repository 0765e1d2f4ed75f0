/// Reads the dependencies of targets out of Package.swift, as text.
struct Manifest {
    private let text: String
    /// The manifest's names for the products of other packages (`nioCore`), and their modules.
    private let products: [Substring: String]

    init(_ text: String) {
        self.text = text
        let declarations = text.matches(of: /static let (\w+) = library\("(\w+)"/)
        products = Dictionary(uniqueKeysWithValues: declarations.map { ($0.1, String($0.2)) })
    }

    /// - Returns: targets and products, by name; `nil` if the manifest has no such target.
    func dependencies(of target: String) -> Set<String>? {
        for call in ["layer(", "program("] {
            for range in text.ranges(of: call) {
                let rest = text[range.upperBound...].drop(while: \.isWhitespace)
                guard rest.hasPrefix("\"\(target)\""), let open = rest.firstIndex(of: "["),
                    let close = rest[open...].firstIndex(of: "]")
                else { continue }
                return Set(
                    rest[open...close].matches(of: /"(\w+)"|\.(\w+)/).map { match in
                        if let target = match.1 { return String(target) }
                        return match.2.flatMap { products[$0] } ?? String(match.0)
                    })
            }
        }
        return nil
    }
}
