import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("Help")
struct HelpTests {
    /// Every command that has examples, with its words.
    private static let commands = [
        ["status"], ["login"], ["token"], ["proof"], ["accounts", "list"], ["accounts", "show"],
        ["accounts", "remove"],
        ["accounts", "sign-out"], ["apps", "add"], ["apps", "list"], ["apps", "remove"], ["doctor"],
        ["logout"], ["sandboxes", "add"], ["sandboxes", "list"], ["sandboxes", "remove"],
        ["run-in"],
        ["git-credential"], ["kube-credential"], ["token-file"], ["watch"], ["apps", "show"], ["apps", "edit"],
        ["grants", "list"], ["grants", "approve"], ["grants", "deny"], ["grants", "revoke"], ["key", "status"],
        ["key", "rotate"], ["lock"], ["cache", "accept-restore"],
    ]

    @Test("the examples in the help are valid commands", arguments: commands)
    func examples(command: [String]) async throws {
        let help = try await brokerctl(["help"] + command, environment: ["COLUMNS": "200"])
        let examples = help.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.contains(#/^brokerctl |\| brokerctl /#) && !$0.contains("$(") }
        #expect(!examples.isEmpty, "\(help)")
        let program = try PackageTree.program("brokerctl")
        try await withTestBed { bed in
            for example in examples {
                let line = example.replacing(#/(^|\| )brokerctl /#) {
                    "\($0.1)'\(program)' --socket /nowhere/broker.sock "
                }
                let result = try await bed.run(
                    Launch("/bin/sh", ["-c", line], environment: ["XDG_RUNTIME_DIR": bed.directory.path]))
                // There is no broker; a usage error in the example would be 2.
                let expected: Int32 = command == ["doctor"] ? 1 : 3
                #expect(result.status == .exited(expected), "\(example)\n\(result)")
            }
        }
    }

    /// Every command, with its words.
    private static func all(below path: CommandPath) -> [CommandPath] {
        [path]
            + path.last.subcommands.flatMap { subcommand in
                var longer = path
                longer.append(subcommand)
                return all(below: longer)
            }
    }

    @Test("every command has help")
    func everyCommand() {
        let commands = Self.all(below: CommandPath([Brokerctl.root]))
        #expect(commands.count > 50)
        for path in commands {
            let parts = path.last.about.discussion.components(separatedBy: "Examples:\n")
            #expect(parts.count == 2, "\(path.text)")
            #expect(parts.last?.contains(path.names.last ?? "") == true, "\(path.text): \(parts.last ?? "")")
        }
    }
}
