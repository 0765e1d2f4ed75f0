import BrokerCommandLine
import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// The program: arguments in, exit status out.
package enum Brokerctl {
    /// The root of all commands.
    package static let root: any Command.Type = BrokerctlCommand.self

    /// Runs one command line, then ends the process.
    ///
    /// - Parameter bytes: the name under which the program was run, then its arguments, as the system gives them.
    package static func main(_ bytes: [[UInt8]]) -> Never {
        ProgramGroup.hide()
        // The pool's threads request a priority that a user's process cannot get, and each logs this in the journal.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        StandardStream.keepDescriptors()
        let commandLine: [String]
        do throws(UsageError) { commandLine = try CommandLineText.words(of: bytes) } catch {
            refuse(error, bytes.map { String(decoding: $0, as: UTF8.self) })
            tell("brokerctl: \(error.message)".clean, on: .error)
            ExitStatus.usage.endProcess()
        }
        switch CommandReading(ProgramName.arguments(of: commandLine), root: root) {
        case .command(let command): command.execute(in: root).endProcess()
        case .help(let path):
            tell(help(path, on: .output), on: .output)
            ExitStatus.done.endProcess()
        case .version:
            tell("brokerctl \(BrokerVersion.text)", on: .output)
            ExitStatus.done.endProcess()
        case .incomplete(let path):
            let verbs = path.last.subcommands.map { $0.about.name }.joined(separator: ", ")
            refuse(UsageError("\(path.text) needs one of its commands: \(verbs)."), commandLine)
            tell(help(path, on: .error), on: .error)
            ExitStatus.usage.endProcess()
        case .mistake(let mistake, let path):
            refuse(mistake, commandLine)
            tell(explanation(of: mistake, path), on: .error)
            ExitStatus.usage.endProcess()
        }
    }

    /// Reports it as JSON if the command line asks for that. Words after `--` belong to another program.
    private static func refuse(_ mistake: UsageError, _ commandLine: [String]) {
        guard commandLine.prefix(while: { $0 != "--" }).contains("--json") else { return }
        Output(json: true).failed(BrokerClientError(.invalidParameter, mistake.message))
    }

    private static func tell(_ text: String, on stream: StandardStream) {
        stream.write(Layout.of(stream).prose(text) + "\n")
    }

    /// People read help wherever it goes, so it is always wrapped.
    private static func help(_ path: CommandPath, on stream: StandardStream) -> String {
        let said = SocketLocation.variable("COLUMNS").flatMap { Int($0) }
        return HelpText(path, columns: said ?? stream.terminalSize?.columns ?? 80).text
    }

    private static func explanation(of mistake: UsageError, _ path: CommandPath) -> String {
        let start = "\(path.text): \(mistake.message)"
        guard path.last.subcommands.isEmpty || !mistake.isAboutSubcommand else { return start }
        let help = ([path.names[0], "help"] + path.names.dropFirst()).joined(separator: " ")
        let lines = [start, mistake.help, "Usage: \(HelpText(path, columns: 80).usage)", "Run \(help) for details."]
        return lines.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
