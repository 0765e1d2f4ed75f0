import ArgumentParser
import BrokerClient

struct CompletionCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "completion", abstract: "Print a completion script for a shell.",
        discussion: """
            Examples:
              source <(brokerctl completion bash)
              brokerctl completion fish | source
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish

        var parserName: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @OptionGroup var global: GlobalOptions

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run(in context: CommandContext) throws(BrokerClientError) {
        // For a shell, also where it is looked at on a terminal.
        StandardStream.output.write(BrokerctlCommand.completionScript(for: shell.parserName) + "\n")
    }
}
