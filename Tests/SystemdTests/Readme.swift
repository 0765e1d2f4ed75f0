import BrokerTestSupport
import Foundation

/// The commands of README.md, and their documented output.
struct ReadmeStep {
    var command: String
    var output: [String]

    /// The commands of one section, in order: the lines after `$` in blocks of code.
    static func steps(of section: String) throws -> [ReadmeStep] {
        let readme = try PackageTree.text("README.md")
        guard let start = readme.range(of: "\n## \(section)\n") else { throw ProcessFailure("No section \(section)") }
        let rest = readme[start.upperBound...]
        let text = rest.range(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
        var steps: [ReadmeStep] = []
        var isCode = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                isCode.toggle()
            } else if isCode, line.hasPrefix("$ ") {
                steps.append(ReadmeStep(command: String(line.dropFirst(2)), output: []))
            } else if isCode, !steps.isEmpty {
                steps[steps.count - 1].output.append(String(line))
            }
        }
        return steps
    }

    /// Whether these lines match the README's, in its order; `...` matches any others, and values that differ from
    /// run to run (tokens, ids, ports, user ids) match others of their kind.
    func shows(_ text: String) -> Bool {
        var lines = text.split(separator: "\n").map(Self.shape)[...]
        var mayLeaveOut = false
        for expected in output {
            if expected == "..." {
                mayLeaveOut = true
                continue
            }
            guard let found = lines.firstIndex(of: Self.shape(expected[...])), mayLeaveOut || found == lines.startIndex
            else { return false }
            lines = lines[(found + 1)...]
            mayLeaveOut = false
        }
        return mayLeaveOut || lines.isEmpty
    }

    private static func shape(_ line: Substring) -> String {
        String(line).replacing(/127\.0\.0\.1:[0-9]+/, with: "HOST").replacing(/\/run\/user\/[0-9]+/, with: "RUNTIME")
            .replacing(/[A-Za-z0-9_-]{20,}/, with: "RANDOM").replacing(/\ +/, with: " ")
    }
}
