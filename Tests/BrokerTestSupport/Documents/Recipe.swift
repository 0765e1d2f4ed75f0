import Foundation

/// Commands that docs/recipes.md, and other pages, tell a person to paste.
package enum Recipe {
    /// The lines of code of one section that begin with a word, for the tests' app `notes`; an empty result is an error of the
    /// page or of the test.
    package static func lines(of section: String, beginningWith word: String) throws -> [String] {
        let lines = try blocks(of: section).flatMap(\.lines).filter { $0.hasPrefix(word + " ") }
        guard !lines.isEmpty else { throw ProcessFailure("\(section) has no line that begins with \(word)") }
        return lines.map {
            $0.replacing("--app work", with: "--app notes").replacing("exec-arg=work", with: "exec-arg=notes")
        }
    }

    /// The only block of code in a section with the given language.
    package static func block(of section: String, language: String, in page: String = "recipes") throws -> String {
        let found = try blocks(of: section, in: page).filter { $0.language == language }
        guard found.count == 1 else { throw ProcessFailure("\(section) has \(found.count) blocks of \(language)") }
        return found[0].lines.map { $0 + "\n" }.joined()
    }

    /// All commands of one section of another page, without the comments after `#`.
    package static func commands(of section: String, in page: String) throws -> [String] {
        let lines = try blocks(of: section, in: page).flatMap(\.lines)
        return lines.compactMap { $0.split(separator: "  #", maxSplits: 1).first.map(String.init) }
    }

    private struct Block {
        var language: String
        var lines: [String] = []
    }

    private static func blocks(of section: String, in page: String = "recipes") throws -> [Block] {
        let page = try PackageTree.text("docs/\(page).md")
        guard let start = page.range(of: "\n## \(section)\n") else { throw ProcessFailure("No section \(section)") }
        let rest = page[start.upperBound...]
        let text = rest.range(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
        var blocks: [Block] = []
        var isCode = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                isCode.toggle()
                if isCode { blocks.append(Block(language: String(line.dropFirst(3)))) }
            } else if isCode {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        return blocks
    }
}
