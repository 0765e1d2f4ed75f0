import BrokerCommandLine
import BrokerLink

struct CompletionCommand: Subcommand {
    static var about: About {
        About(
            "completion", "Print a completion script for a shell.",
            """
            Examples:
              source <(brokerctl completion bash)
              brokerctl completion fish | source
            """)
    }

    enum Shell: String, CaseIterable, ArgumentValue {
        case bash, zsh, fish

        static let meanings = [
            "bash": "the GNU shell", "zsh": "the Z shell", "fish": "the friendly interactive shell",
        ]
    }

    var global = GlobalOptions()
    var shell = Shell.bash

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("shell", &shell, "bash, zsh or fish.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        // The script is for a shell, so it is not wrapped even on a terminal.
        let table = CompletionTable(context.program)
        let script =
            switch shell {
            case .bash: table.bash
            case .zsh: table.zsh
            case .fish: table.fish
            }
        StandardStream.output.write(script + "\n")
    }
}
