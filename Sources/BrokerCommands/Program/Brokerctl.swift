import ArgumentParser
import BrokerClient
import BrokerSystem
import Glibc

/// The program: arguments in, exit status out.
package enum Brokerctl {
    /// Runs one command line, then ends the process.
    ///
    /// Tasks, and with them a pool of threads, are started only for a command that waits for a person: the others are
    /// over before a pool is up.
    ///
    /// - Parameter commandLine: what the program was run as, then its arguments.
    package static func main(_ commandLine: [String]) -> Never {
        ProgramGroup.hide()
        StandardStream.keepDescriptors()
        let words = ProgramName.arguments(of: commandLine)
        if let usual = UsualTokenWords(words) {
            end(run(at: .resolve(path: usual.socket), Output(json: usual.json), usual.run))
        }
        do {
            let command = try parse(words)
            if let subcommand = command as? any Subcommand { end(run(subcommand)) }
            guard let subcommand = command as? any WaitingSubcommand else { end(try explain(command, of: words)) }
            Task { end(await run(subcommand)) }
            while true { pause() }
        } catch {
            end(report(error, of: words))
        }
    }

    /// The subcommand is parsed alone: the parser takes longer to lay out all of them than the broker to answer. What does not go
    /// well that way is for the whole to judge, which knows how to say so.
    private static func parse(_ words: [String]) throws -> any ParsableCommand {
        var rest = words[...]
        // Every subcommand takes the options that may stand before it.
        var options: [String] = []
        while let option = rest.first, option == "--json" || option == "--socket" || option.hasPrefix("--socket=") {
            let count = option == "--socket" ? 2 : 1
            options += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        var type: any ParsableCommand.Type = BrokerctlCommand.self
        while let next = type.configuration.subcommands.first(where: { $0.configuration.commandName == rest.first }) {
            type = next
            rest.removeFirst()
        }
        if type.configuration.subcommands.isEmpty, let command = try? type.parse(options + rest) { return command }
        return try BrokerctlCommand.parseAsRoot(words)
    }

    /// What was asked for is not done when nobody got it: a full disk, a closed descriptor.
    private static func end(_ status: ExitStatus) -> Never {
        let signal = Interrupt.received.load(ordering: .relaxed)
        if status == .failed, signal != 0 { exit(128 + signal) }
        let lost = StandardStream.lostOutput.load(ordering: .relaxed)
        guard status == .done, lost != 0 else { exit(status.rawValue) }
        tell("brokerctl: Standard output could not be written: \(errnoText(lost)).", on: .error)
        exit(ExitStatus.failed.rawValue)
    }

    private static func tell(_ text: String, on stream: StandardStream) {
        stream.write(Layout.of(stream).prose(text) + "\n")
    }

    /// The parser traps when it has to lay out help in a few columns.
    private static func widenHelp() {
        let said = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }
        guard let columns = said ?? StandardStream.output.terminalSize?.columns, columns < 40 else { return }
        setenv("COLUMNS", "40", 1)
    }

    private static func run(_ subcommand: any Subcommand) -> ExitStatus {
        let output = Output(json: subcommand.global.json && !(subcommand is any Front))
        return run(at: subcommand.global.location, output, timeout: subcommand.answerTimeout, subcommand.run)
    }

    private static func run(
        at location: SocketLocation, _ output: Output, timeout: Duration? = nil,
        _ command: (CommandContext) throws(BrokerClientError) -> Void
    ) -> ExitStatus {
        // Who set a time is told soon enough.
        let tellsWaiting = timeout == nil && StandardStream.error.isTerminal
        let connection = DirectConnection(
            location: location, answerTimeout: timeout,
            tellWaiting: tellsWaiting
                ? { output.aside("Still waiting for the broker's answer (Ctrl-C gives up).") } : nil)
        do throws(BrokerClientError) {
            try command(CommandContext(connection: connection, output: output))
            return .done
        } catch {
            output.failed(error)
            return ExitStatus(error)
        }
    }

    private static func run(_ subcommand: any WaitingSubcommand) async -> ExitStatus {
        let output = Output(json: subcommand.global.json)
        do throws(BrokerClientError) {
            try await subcommand.run(at: subcommand.global.location, output)
            return .done
        } catch {
            output.failed(error)
            return ExitStatus(error)
        }
    }

    /// `help` explains what it is asked; a noun without its verb is a mistake.
    private static func explain(_ command: any ParsableCommand, of words: [String]) throws -> ExitStatus {
        widenHelp()
        if let unknown = UnknownSubcommand.message(for: words) {
            tell(unknown, on: .error)
            return .usage
        }
        let type = Swift.type(of: command)
        guard type.configuration.subcommands.isEmpty else {
            tell(BrokerctlCommand.helpMessage(for: type), on: .error)
            return .usage
        }
        var command = command
        try command.run()
        return .done
    }

    /// What the parser has to say: help and versions to standard output, mistakes to standard error.
    private static func report(_ error: any Error, of words: [String]) -> ExitStatus {
        widenHelp()
        let message = BrokerctlCommand.fullMessage(for: error)
        if BrokerctlCommand.exitCode(for: error).isSuccess {
            tell(message, on: .output)
            return .done
        }
        tell(UnknownSubcommand.message(for: words) ?? message, on: .error)
        return .usage
    }
}
