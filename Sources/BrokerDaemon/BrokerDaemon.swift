import BrokerCommandLine
import BrokerConfig
import BrokerHost
import BrokerOAuth
import BrokerSystem
import BrokerValues
import Glibc
import Logging

/// `brokerd` from its arguments to its exit status.
package enum BrokerDaemon {
    package enum StartResult {
        case ended(DaemonExit)
        case serving(DaemonCommand)
    }

    /// Takes the steps that need no second thread: the runtime's thread pool cannot start one without `/proc`.
    ///
    /// - Parameter arguments: the bytes of each argument, without the program's name.
    package static func begin(arguments: [[UInt8]]) -> StartResult {
        let command: DaemonCommand
        do throws(UsageError) {
            let parsed = ParsedArguments(try CommandLineText.words(of: arguments), by: DaemonCommand.declarations)
            if parsed.asksHelp || parsed.asksVersion {
                print(parsed.asksHelp ? DaemonHelp.text : BrokerVersion.text)
                return .ended(.stopped)
            }
            if let mistake = parsed.mistake { throw mistake }
            command = try DaemonCommand(parsed)
        } catch {
            say("brokerd: \(error.message) Run brokerd --help for the options.")
            return .ended(.configuration)
        }
        do throws(StartFailure) {
            if command.checksConfiguration { return .ended(try check(command)) }
            guard ProcFileSystem.isMounted else {
                throw StartFailure(
                    exit: .failed,
                    text: "There is no /proc here, which identifies callers. Mount it: mount -t proc proc /proc")
            }
        } catch {
            say(error)
            return .ended(error.exit)
        }
        return .serving(command)
    }

    private static func check(_ command: DaemonCommand) throws(StartFailure) -> DaemonExit {
        let loaded = try command.loader().loadAtStart()
        print(loaded.report)
        // A daemon runs without a file of apps, but a check reports it.
        let mistakes = loaded.configuration.apps.mistakes.map { "\($0)" } + authorityMistakes(loaded.configuration)
        for text in mistakes + loaded.configuration.remarks.map({ "\($0)" }) { say("brokerd: \(text)") }
        return mistakes.isEmpty ? .stopped : .configuration
    }

    private static func authorityMistakes(_ configuration: BrokerConfiguration) -> [String] {
        do throws(HTTPClientError) {
            try HTTPClientConfiguration(version: BrokerVersion.text, caFile: configuration.oauth.caFile)
                .checkAuthorities()
            return []
        } catch {
            return ["\(error)"]
        }
    }

    package static func serve(_ command: DaemonCommand) async -> DaemonExit {
        do throws(StartFailure) {
            // First, before any library reads its variables and any secret is in memory: the environment, hardening, and the sockets
            // from systemd.
            ProcessEnvironment.keep(where: AllowedVariables.has)
            let hardening = ProcessHardening.apply()
            let starter = Starter(
                loader: command.loader(), activated: try activatedSockets(), hardening: hardening, report: say)
            let broker: RunningBroker
            do throws(StartFailure) { broker = try await starter.start() } catch { return error.exit }
            await broker.serveUntilStopped(reloading: command.loader())
            return .stopped
        } catch {
            say(error)
            return error.exit
        }
    }

    private static func activatedSockets() throws(StartFailure) -> ActivatedSockets? {
        try StartFailure.orThrow(.failed) { () throws(SocketActivationError) in
            try SocketActivation.take(with: Doors.activationNames)
        }
    }

    /// Reports a failure: as a sentence on the terminal, or as an entry at the error level in the journal.
    private static func say(_ failure: StartFailure) {
        guard BrokerLog.Destination.forStandardError() == .journal else { return say("brokerd: \(failure.text)") }
        BrokerLog().logger(label: "brokerd").error(
            "\(failure.text)", metadata: ["exit": "\(failure.exit.rawValue)"])
        // The journal looks up the unit of a process when it reads the entry. A process that has exited by then has none, and
        // journalctl -u would not show the reason.
        usleep(200_000)
    }

    /// Writes one line, even if a file, an argument or an error contains control characters.
    private static func say(_ text: String) {
        let line = SafeText(text, atMost: 4096, .escape).text + "\n"
        line.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
    }
}
