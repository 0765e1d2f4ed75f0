import BrokerTestSupport
import Foundation
import Testing

/// The records in `docs/decisions`, and the places that refer to them.
@Suite("The decision records")
struct DecisionTests {
    private static let folder = "docs/decisions"
    private static let headings = ["## Context", "## Decision", "## Alternatives", "## Consequences"]
    private static let maximumLines = 60
    private static let maximumColumns = 120

    /// One record.
    private struct Record {
        var name: String
        var lines: [String]

        init(named name: String) throws {
            self.name = name
            var text = try PackageTree.text("\(DecisionTests.folder)/\(name)")
            if text.hasSuffix("\n") { text.removeLast() }
            lines = text.components(separatedBy: "\n")
        }

        var number: String { String(name.prefix(4)) }

        /// Without the number; nil when the first line is no title of this record.
        var title: String? {
            guard let first = lines.first, first.hasPrefix("# \(number) ") else { return nil }
            return String(first.dropFirst("# \(number) ".count))
        }

        /// The number and the words of the title.
        var expectedName: String? {
            guard let title else { return nil }
            let words = title.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
            return "\(number)-\(words.joined(separator: "-")).md"
        }

        var headings: [String] { lines.filter { $0.hasPrefix("#") }.dropFirst().map { $0 } }
    }

    private static func files(below folder: String, where isWanted: (String) -> Bool) -> [String] {
        let found = FileManager.default.enumerator(atPath: "\(PackageTree.root.path)/\(folder)")
        let names = found?.compactMap { $0 as? String } ?? []
        return names.filter(isWanted).sorted().map { "\(folder)/\($0)" }
    }

    private static func records() throws -> [Record] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(PackageTree.root.path)/\(folder)")
        return try names.filter { $0 != "README.md" }.sorted().map { try Record(named: $0) }
    }

    /// The numbers of the records that a text mentions.
    private static func mentions(in text: String) -> [Int] {
        text.matches(of: #/[dD]ecisions?[#\s\/]+\[?([0-9]+)((?:(?:,\s+|\s+and\s+)[0-9]+)*)/#).flatMap { match in
            let others = match.2.split { !$0.isNumber }
            return ([match.1] + others).compactMap { Int($0) }
        }
    }

    @Test("have a title, the four headings in order, and at most sixty lines")
    func form() throws {
        let records = try Self.records()
        #expect(!records.isEmpty)
        for record in records {
            #expect(record.expectedName == record.name, "\(record.name): a file is called by its number and title")
            #expect(record.headings == Self.headings, "\(record.name)")
            #expect(record.lines.count <= Self.maximumLines, "\(record.name) has \(record.lines.count) lines")
            for line in record.lines where line.count > Self.maximumColumns {
                Issue.record("\(record.name) has a line of \(line.count) characters: \(line.prefix(60))")
            }
            for heading in Self.headings {
                let following = record.lines.drop { $0 != heading }.dropFirst().first { !$0.isEmpty }
                #expect(following?.hasPrefix("#") == false, "\(record.name): \(heading) is empty")
            }
        }
    }

    @Test("stand in the index with their titles, numbered without a gap")
    func index() throws {
        let records = try Self.records()
        let index = try PackageTree.text("\(Self.folder)/README.md")
        let listed = index.split(separator: "\n").filter { $0.hasPrefix("| [") }
            .map(String.init)
        let expected = records.map { "| [\($0.number)](\($0.name)) | \($0.title ?? "") |" }
        #expect(listed == expected)
        #expect(records.map { Int($0.number) } == Array(1...records.count))
    }

    @Test("exist when sources, tests, documents or scripts mention them")
    func mentioned() throws {
        let numbers = Set(try Self.records().compactMap { Int($0.number) })
        let code: Set = ["swift", "c", "h", "py"]
        let isCode = { (name: String) in code.contains(String(name.split(separator: ".").last ?? "")) }
        let paths =
            Self.files(below: "Sources", where: isCode) + Self.files(below: "Tests", where: isCode)
            + Self.files(below: "docs") { $0.hasSuffix(".md") } + Self.files(below: ".ci") { _ in true }
            + ["Makefile", "README.md", "SECURITY.md"]
        #expect(paths.count > 1_000)
        for path in paths {
            // Folders, and scripts that are no text, mention nothing.
            guard let text = try? PackageTree.text(path) else { continue }
            for number in Self.mentions(in: text) {
                #expect(numbers.contains(number), "\(path) mentions decision number \(number), which is not there")
            }
        }
    }

    @Test("are found in lists, links, paths and wrapped comments")
    func samples() {
        // No number stands behind the word here: this file is looked through as well.
        let (one, other, padded) = (11, 305, "0011")
        let texts: [String: [Int]] = [
            "(decision \(one))": [one], "Decisions \(one) and \(other)": [one, other],
            "decisions \(one), \(other) and \(one)": [one, other, one], "(docs/decisions/\(padded))": [one],
            "[decision \(one)](decisions/\(padded)-x.md)": [one, one], "(decision\n    /// \(other))": [other],
            "for people, not for decisions.": [], "decisions/README.md": [],
        ]
        for (text, numbers) in texts { #expect(Self.mentions(in: text) == numbers, "\(text)") }
    }
}
