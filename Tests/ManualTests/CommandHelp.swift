import BrokerTestSupport
import Foundation

/// What a program's own definitions say of its commands and options.
struct CommandHelp: Decodable {
    let commandName: String
    var abstract: String?
    var discussion: String?
    var subcommands: [CommandHelp]?
    var arguments: [Argument]?

    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        let kind: String
        let isOptional: Bool
        let isRepeating: Bool
        let shouldDisplay: Bool
        var names: [Name]?
        var preferredName: Name?
        var valueName: String?
        var defaultValue: String?
        var abstract: String?
        var discussion: String?

        private var value: String { "<\(valueName ?? "value")>" }

        /// As in a list of options: `--scope <scope>`.
        var term: String {
            guard kind != "positional" else { return "`\(value)`" }
            let spelled = (names ?? []).sorted { $0.text.count < $1.text.count }.map { "`\($0.text)`" }
                .joined(separator: ", ")
            return kind == "option" ? "\(spelled) \(value)" : spelled
        }

        /// As in a synopsis: `[--scope <scope> ...]`.
        var usage: String {
            let name = preferredName.map { "`\($0.text)`" } ?? ""
            let words = kind == "positional" ? value : kind == "option" ? "\(name) \(value)" : name
            let repeated = words + (isRepeating ? " ..." : "")
            return isOptional ? "[\(repeated)]" : repeated
        }

        var text: String {
            let words = [abstract, discussion].compactMap(\.self).joined(separator: " ")
            return words + (defaultValue.map { " Default: \($0)." } ?? "")
        }
    }

    /// Those that are its own: not those that all commands have.
    func options(besides common: Set<String>) -> [Argument] {
        (arguments ?? []).filter { $0.shouldDisplay && !common.contains($0.preferredName?.name ?? "") }
    }

    static func of(_ program: String) async throws -> CommandHelp {
        struct Dump: Decodable { let command: CommandHelp }
        let result = try await withTestBed { bed in
            try await bed.run(Launch(try PackageTree.program(program), ["--experimental-dump-help"]))
        }
        return try JSONDecoder().decode(Dump.self, from: result.outputData).command
    }
}
