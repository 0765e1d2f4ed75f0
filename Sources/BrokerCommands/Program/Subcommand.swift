import BrokerLink
import Glibc

/// A command that asks the broker something and prints the answer.
protocol Subcommand: Command {
    var global: GlobalOptions { get set }
    /// How long an answer is waited for; nil for as long as it takes.
    var answerTimeout: Duration? { get }
    /// Whether `--json` is for what it prints.
    static var printsJSON: Bool { get }

    func run(in context: CommandContext) throws(BrokerClientError)
}

extension Subcommand {
    var answerTimeout: Duration? { nil }
    static var printsJSON: Bool { true }

    package mutating func declare(in arguments: inout Arguments) { arguments.group(&global) }

    package func execute() -> ExitStatus {
        let context = CommandContext(global, answerTimeout, printsJSON: Self.printsJSON)
        do throws(BrokerClientError) {
            try run(in: context)
            return .done
        } catch {
            return context.output.status(after: error)
        }
    }
}

/// A command that waits for a person while other things happen.
protocol WaitingSubcommand: Command, Sendable {
    var global: GlobalOptions { get set }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError)
}

extension WaitingSubcommand {
    package mutating func declare(in arguments: inout Arguments) { arguments.group(&global) }

    /// Tasks, and with them a pool of threads, are started only for these commands: the others are over before a pool is up.
    package func execute() -> ExitStatus {
        // Without it the pool's first thread ends the program.
        guard access("/proc/self/stat", F_OK) == 0 else {
            let text = "There is no /proc here, which this command needs. Mount it: mount -t proc proc /proc"
            return Output(json: global.json).status(after: BrokerClientError(.internal, text))
        }
        Task { Brokerctl.end(await carryOut()) }
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

/// A word with verbs below it.
protocol Noun: Command {}

extension Noun {
    package mutating func declare(in arguments: inout Arguments) {
        var global = GlobalOptions()
        arguments.group(&global)
    }

    /// Without its verb it is no command.
    package func execute() -> ExitStatus { .usage }
}

extension CommandContext {
    /// What every command has in common is not in the protocols: that would be compiled for each.
    @inline(never)
    fileprivate init(_ global: GlobalOptions, _ timeout: Duration?, printsJSON: Bool) {
        let output = Output(json: global.json && printsJSON)
        // Who set a time is told soon enough.
        let tellsWaiting = timeout == nil && StandardStream.error.isTerminal
        self.output = output
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
