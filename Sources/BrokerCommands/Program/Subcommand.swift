import BrokerCommandLine
import BrokerLink
import Glibc

/// A command with the options that every command has.
protocol GlobalCommand: Command {
    var global: GlobalOptions { get set }

    /// Declares its own options and arguments, after ``global``.
    mutating func declareOwn(in arguments: inout Arguments)
}

extension GlobalCommand {
    mutating func declareOwn(in arguments: inout Arguments) {}

    package mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        declareOwn(in: &arguments)
    }
}

/// A command that calls the broker and prints the answer.
protocol Subcommand: GlobalCommand {
    /// The limit of the wait for an answer; `nil` for none.
    var answerTimeout: Duration? { get }
    /// Whether `--json` applies to its output.
    static var printsJSON: Bool { get }

    func run(in context: CommandContext) throws(BrokerClientError)
}

extension Subcommand {
    var answerTimeout: Duration? { nil }
    static var printsJSON: Bool { true }

    package func execute(in program: any Command.Type) -> ExitStatus {
        let context = CommandContext(global, answerTimeout, in: program, printsJSON: Self.printsJSON)
        do throws(BrokerClientError) {
            try run(in: context)
            return .done
        } catch {
            return context.output.status(after: error)
        }
    }
}

/// A command that waits for the user while other work continues.
protocol WaitingSubcommand: GlobalCommand, Sendable {
    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError)
}

extension WaitingSubcommand {
    /// Only these commands start tasks, and with them a thread pool: the others end before a pool would be up.
    package func execute(in program: any Command.Type) -> ExitStatus {
        // Without /proc, the pool's first thread would end the program.
        guard access("/proc/self/stat", F_OK) == 0 else {
            let text = "There is no /proc here, which this command needs. Mount it: mount -t proc proc /proc"
            return Output(json: global.json).status(after: BrokerClientError(.internal, text))
        }
        Task { await carryOut().endProcess() }
        while true { pause() }
    }

    private func carryOut() async -> ExitStatus {
        let output = Output(json: global.json)
        do throws(BrokerClientError) {
            try await run(at: global.location, output)
            return .done
        } catch {
            return output.status(after: error)
        }
    }
}

/// A noun with verbs below it.
protocol Noun: Command {}

extension Noun {
    package mutating func declare(in arguments: inout Arguments) {
        var global = GlobalOptions()
        arguments.group(&global)
    }

    /// A noun without its verb is not a command.
    package func execute(in program: any Command.Type) -> ExitStatus { .usage }
}

extension CommandContext {
    /// The common part of all commands, outside the protocols, which would compile it for each command.
    @inline(never)
    fileprivate init(
        _ global: GlobalOptions, _ timeout: Duration?, in program: any Command.Type, printsJSON: Bool
    ) {
        let output = Output(json: global.json && printsJSON)
        // A command with a timeout reports soon enough.
        let tellsWaiting = timeout == nil && StandardStream.error.isTerminal
        self.output = output
        self.program = program
        connection = DirectConnection(
            location: global.location, answerTimeout: timeout,
            tellWaiting: tellsWaiting
                ? { output.aside("Still waiting for the broker's answer (Ctrl-C gives up).") } : nil)
    }
}

extension Output {
    @inline(never)
    fileprivate func status(after error: BrokerClientError) -> ExitStatus {
        failed(error)
        return ExitStatus(error)
    }
}
