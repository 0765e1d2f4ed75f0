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
        do {
            let command = try BrokerctlCommand.parseAsRoot(words)
            if let subcommand = command as? any Subcommand { end(run(subcommand)) }
            guard let subcommand = command as? any WaitingSubcommand else { end(try explain(command, of: words)) }
            Task { end(await run(subcommand)) }
            while true { pause() }
        } catch {
            end(report(error, of: words))
        }
    }

    /// What was asked for is not done when nobody got it: a full disk, a closed descriptor.
    private static func end(_ status: ExitStatus) -> Never {
        let signal = Interrupt.received.load(ordering: .relaxed)
        if status == .failed, signal != 0 { exit(128 + signal) }
        let lost = StandardStream.lostOutput.load(ordering: .relaxed)
        guard status == .done, lost != 0 else { exit(status.rawValue) }
        StandardStream.error.write(
            "brokerctl: Standard output could not be written: \(errnoText(lost)).\n")
        exit(ExitStatus.failed.rawValue)
    }

    /// The parser traps when it has to lay out help in a few columns; a narrower terminal breaks the lines by itself.
    private static func widenHelp() {
        let said = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }
        guard let columns = said ?? StandardStream.output.terminalSize?.columns, columns < 40 else { return }
        setenv("COLUMNS", "40", 1)
    }

    private static func run(_ subcommand: any Subcommand) -> ExitStatus {
        let output = Output(json: subcommand.global.json && !(subcommand is any Front))
        let connection = DirectConnection(
            location: subcommand.global.location, answerTimeout: subcommand.answerTimeout)
        do throws(BrokerClientError) {
            try subcommand.run(in: CommandContext(connection: connection, output: output))
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
            StandardStream.error.write(unknown + "\n")
            return .usage
        }
        let type = Swift.type(of: command)
        guard type.configuration.subcommands.isEmpty else {
            StandardStream.error.write(BrokerctlCommand.helpMessage(for: type) + "\n")
            return .usage
        }
        var command = command
        try command.run()
        return .done
    }

    /// What the parser has to say: help and versions to standard output, mistakes to standard error.
    private static func report(_ error: any Error, of words: [String]) -> ExitStatus {
        widenHelp()
        if let unknown = UnknownSubcommand.message(for: words) {
            StandardStream.error.write(unknown + "\n")
            return .usage
        }
        let message = BrokerctlCommand.fullMessage(for: error)
        if BrokerctlCommand.exitCode(for: error).isSuccess {
            StandardStream.output.write(message + "\n")
            return .done
        }
        StandardStream.error.write(message + "\n")
        return .usage
    }
}
