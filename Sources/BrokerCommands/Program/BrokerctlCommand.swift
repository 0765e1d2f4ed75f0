import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

struct BrokerctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brokerctl",
        abstract: "Sign in once, and let every app have its own tokens.",
        discussion: """
            Talks to the token broker, brokerd. Exit status: 0 done, 1 the request failed, 2 usage, 3 no broker, \
            4 interaction required, 5 access denied, 130 ended by Ctrl-C. On a terminal, text and tables are made to fit it; into a \
            pipe or a file they go whole.

            Examples:
              brokerctl login --app notes
              brokerctl token --app notes
              brokerctl doctor
            """,
        version: "brokerctl \(BrokerVersion.text)",
        subcommands: [
            StatusCommand.self, LoginCommand.self, LogoutCommand.self, TokenCommand.self, ProofCommand.self,
            AccountsCommand.self,
            AppsCommand.self, GrantsCommand.self, SandboxesCommand.self, RunInCommand.self, AuditCommand.self,
            CacheCommand.self, KeyCommand.self,
            LockCommand.self, UnlockCommand.self, PartitionsCommand.self,
            HandleRedirectCommand.self, ImportCommand.self, WatchCommand.self, LogsCommand.self,
            MetricsCommand.self, ConfigCommand.self, DoctorCommand.self, GitCredentialCommand.self,
            KubeCredentialCommand.self,
            TokenFileCommand.self, SessionCommand.self, CompletionCommand.self,
        ])

    @OptionGroup var global: GlobalOptions
}

/// Understood before and after the subcommand.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The broker's socket.",
            discussion:
                "Otherwise $BROKER_SOCKET, or brokerd/broker.sock in the runtime directory of your session, or in /run.",
            valueName: "path"))
    var socket: String?

    @Flag(help: "Print the broker's own result, or its error, as JSON.")
    var json = false

    var location: SocketLocation { .resolve(path: socket) }

    /// What a person types before a subcommand to mean the same broker.
    var words: [String] { Self.words(socket: socket) }

    static func words(socket: String?) -> [String] { ["brokerctl"] + (socket.map { ["--socket", $0] } ?? []) }
}

/// A command that asks the broker something and prints the answer.
protocol Subcommand: ParsableCommand {
    var global: GlobalOptions { get }
    /// How long an answer is waited for; nil for as long as it takes.
    var answerTimeout: Duration? { get }

    func run(in context: CommandContext) throws(BrokerClientError)
}

extension Subcommand {
    var answerTimeout: Duration? { nil }
}

/// What such a command has to work with.
struct CommandContext {
    let connection: DirectConnection
    let output: Output

    /// Asks the broker, and tells its answer: as it is to programs, in words to people.
    func tell<M: BrokerMethod>(
        _: M.Type, _ params: M.Params, _ words: (M.Result) -> String
    ) throws(BrokerClientError) {
        let node = try answer(to: M.self, params)
        let result = try M.Result.decoded(node)
        output.result(node) { words(result) }
    }

    /// Asks the broker. Where it wants the person to show that they are there, and nobody else asks them, this terminal does.
    func answer<M: BrokerMethod>(
        to _: M.Type, _ params: M.Params, with descriptors: (Int32, Int32)? = nil
    ) throws(BrokerClientError) -> JSONNode {
        do throws(BrokerClientError) {
            return try connection.result(of: M.self, params, with: descriptors)
        } catch {
            guard error.reason == ErrorReason.presenceRequired.rawValue, let agent = TerminalAgent.start() else {
                throw error
            }
            defer { agent.end() }
            return try connection.result(of: M.self, params, with: descriptors)
        }
    }
}

/// A command that waits for a person while other things happen.
protocol WaitingSubcommand: ParsableCommand {
    var global: GlobalOptions { get }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError)
}
