import BrokerTestSupport
import Foundation

/// One Swift file below Sources or Tests.
struct SourceFile: Sendable {
    /// Relative to the package's root.
    var path: String
    var text: SourceText

    /// Each folder is read once for all tests.
    static func all(below folder: String) throws -> [SourceFile] {
        try (folder.hasPrefix("Tests") ? tests : sources).get().filter { $0.path.hasPrefix(folder + "/") }
    }

    private static let sources = Result { try read("Sources") }
    private static let tests = Result { try read("Tests") }

    private static func read(_ folder: String) throws -> [SourceFile] {
        let base = PackageTree.root.appending(path: folder)
        let names = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
            let text = try String(contentsOf: base.appending(path: name), encoding: .utf8)
            return SourceFile(path: "\(folder)/\(name)", text: SourceText(text))
        }
    }

    /// The layer whose folder it is in.
    var layer: Layer? { Layer.all.first { path.hasPrefix("Sources/\($0.folder)/") } }
}

/// A violation of a rule in a file.
struct Finding: Equatable, CustomStringConvertible {
    var path: String
    var line: Int
    var text: String

    var description: String { "\(path):\(line): \(text)" }
}

/// The rules, as functions of files, so that each can be tried on a sample that breaks it.
enum Rules {
    static func imports(of file: SourceFile, in layer: Layer) -> [Finding] {
        file.text.imports.compactMap { found in
            if found.isTestable {
                return Finding(path: file.path, line: found.line, text: "@testable reaches behind a module's interface")
            }
            guard !layer.allowed.contains(found.module) else { return nil }
            return Finding(
                path: file.path, line: found.line, text: "\(layer.name) may not import \(found.module)")
        }
    }

    /// The types that a file declares with this conformance.
    static func types(of file: SourceFile, conformingTo kind: String) -> [String] {
        guard file.text.mentions(kind) else { return [] }
        return file.text.code.compactMap { line in
            guard let found = line.firstMatch(of: /\b(?:struct|class|enum) (\w+)[^:{]*:([^{]*)/),
                found.2.split(whereSeparator: { !$0.isLetter }).contains(Substring(kind))
            else { return nil }
            return String(found.1)
        }
    }

    /// Code that is allowed in tests only.
    static func forbiddenCode(in file: SourceFile) -> [Finding] {
        let words = [
            "try!": "handle the error", "as!": "handle the other type", "unsafeBitCast": "convert instead",
            "fatalError": "throw, or explain in Exceptions why it cannot happen",
        ]
        return words.flatMap { word, advice in
            file.text.lines(with: word).map { Finding(path: file.path, line: $0, text: "\(word): \(advice)") }
        }
    }

    /// Code that makes a test depend on the machine's load, or ends the tests next to it (docs/contributing.md).
    static func impatience(in file: SourceFile) -> [Finding] {
        let words = [
            "timeLimit": "wait for what happens", "Task.yield": "wait for a Watched state or begin with Task.immediate",
            "try!": "throw", "fatalError": "throw", "precondition": "throw", "preconditionFailure": "throw",
        ]
        return words.flatMap { word, advice in
            file.text.lines(with: word).map { Finding(path: file.path, line: $0, text: "\(word): \(advice)") }
        }
    }

    /// Foundation's readers of JSON take more than linear time.
    static func slowReaders(in file: SourceFile) -> [Finding] {
        ["JSONDecoder", "JSONSerialization", "PropertyListDecoder", "PropertyListSerialization"].flatMap { word in
            file.text.lines(with: word).map {
                Finding(path: file.path, line: $0, text: "\(word): read it with JSONReader")
            }
        }
    }

    static func publicDeclarations(in file: SourceFile) -> [Finding] {
        (file.text.lines(with: "public") + file.text.lines(with: "open class")).map {
            Finding(path: file.path, line: $0, text: "public is for BrokerClient; use package")
        }
    }

    /// Claims that the compiler does not check are justified in the comment above.
    static func unprovedClaims(in file: SourceFile) -> [Finding] {
        ["@unchecked", "nonisolated(unsafe)"].flatMap { claim in
            file.text.lines(with: claim).filter { !file.text.comment(above: $0, mentions: claim) }.map {
                Finding(path: file.path, line: $0, text: "\(claim) without a comment above that names and proves it")
            }
        }
    }

    /// Swift's `==` treats texts as equal that only look the same: providers' texts and client ids are compared as
    /// `exactText` or with `isExactly`.
    static func looseComparisons(in file: SourceFile) -> [Finding] {
        guard ["stringValue", "clientID", ".string("].contains(where: file.text.mentions) else { return [] }
        return file.text.code.enumerated().compactMap { index, line in
            guard
                line.contains(#/stringValue\)?\s*(==|!=)\s*[^\s]|(==|!=)\s*[\w.?!()\[\]]*\.stringValue\b/#)
                    || line.contains(#/\bclientID\s*(==|!=)|(==|!=)\s*(?!expectation\.)[\w.?!$]*\.clientID\b/#)
                    || line.contains(#/contains\([^)]*\.stringValue|case \.string\((?!let\b|var\b|\)|_\))/#)
            else { return nil }
            return Finding(
                path: file.path, line: index + 1,
                text: "a provider's text compared by looks: use exactText or isExactly")
        }
    }

    /// Where the vault's rows are is known to one target: no other file names its library or speaks its language, in code, texts
    /// or comments.
    static func storage(in file: SourceFile) -> [Finding] {
        let words = [
            "sqlite", "SQLite", "SQLITE", "SELECT", "INSERT", "UPDATE", "DELETE FROM", "CREATE TABLE", "PRAGMA",
        ]
        guard words.contains(where: file.text.mentions) else { return [] }
        return file.text.original.enumerated().compactMap { index, line in
            guard
                line.contains(#/(?i:sqlite)/#)
                    || line.contains(#/\b(SELECT|INSERT|UPDATE|DELETE FROM|CREATE TABLE|PRAGMA)\b/#)
            else { return nil }
            return Finding(path: file.path, line: index + 1, text: "rows are read and written by a RowStore")
        }
    }

    static func length(of file: SourceFile, limit: Int) -> [Finding] {
        let count = file.text.original.count
        return count > limit ? [Finding(path: file.path, line: count, text: "longer than \(limit) lines")] : []
    }
}
