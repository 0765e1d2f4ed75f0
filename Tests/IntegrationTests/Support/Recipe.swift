import BrokerTestSupport
import Foundation

/// What docs/recipes.md has a person paste.
enum Recipe {
    /// The lines of code of one section that begin with a word; none is a mistake of the page's or of the test's.
    static func lines(of section: String, beginningWith word: String) throws -> [String] {
        let page = try String(contentsOf: PackageTree.root.appending(path: "docs/recipes.md"), encoding: .utf8)
        guard let start = page.range(of: "\n## \(section)\n") else { throw ProcessFailure("No section \(section)") }
        let rest = page[start.upperBound...]
        let text = rest.range(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
        var isCode = false
        let lines = text.split(separator: "\n").filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return isCode && line.hasPrefix(word + " ")
        }
        guard !lines.isEmpty else { throw ProcessFailure("\(section) has no line that begins with \(word)") }
        return lines.map {
            String($0).replacing("--app work", with: "--app notes").replacing("exec-arg=work", with: "exec-arg=notes")
        }
    }
}
