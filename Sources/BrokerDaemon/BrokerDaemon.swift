import ArgumentParser
import BrokerConfig
import BrokerHost
import Glibc
import Logging

/// `brokerd` from its arguments to its exit status.
package enum BrokerDaemon {
    /// - Parameter arguments: without the program's name.
    package static func run(arguments: [String]) async -> DaemonExit {
        let command: DaemonCommand
        do {
            command = try DaemonCommand.parse(arguments)
        } catch {
            return answer(error)
        }
        do throws(StartFailure) {
            let loader = command.loader
            let loaded = try configuration(loader)
            if command.checkConfig {
                print(loaded.report)
                return .stopped
            }
            guard !command.system else {
                throw StartFailure(
                    exit: .configuration,
                    text: "System mode is not available in this version; run one broker per user (systemctl --user).")
            }
            // First thing, before any secret is here: hardening, and the socket that systemd passed in.
            let hardening = ProcessHardening.apply()
            let activated = try activatedSocket()
            let log = BrokerLog(level: Logger.Level(rawValue: loaded.configuration.log.level) ?? .info)
            for outcome in hardening where outcome.isWorthAWarning {
                log.logger(label: "brokerd").warning(
                    "the process could not be hardened",
                    metadata: ["measure": "\(outcome.measure.rawValue)", "errno": "\(outcome.failure ?? 0)"])
            }
            let signals = await SignalService.trap()
            let broker = try await RunningBroker.start(loaded.configuration, activated: activated, log: log)
            await broker.serveUntilStopped(by: signals, reloading: loader)
            return .stopped
        } catch {
            say("brokerd: \(error.text)")
            return error.exit
        }
    }

    private static func configuration(_ loader: ConfigurationLoader) throws(StartFailure) -> LoadedConfiguration {
        do throws(ConfigurationError) {
            return try loader.load()
        } catch {
            throw StartFailure(exit: .configuration, text: "\(error)")
        }
    }

    private static func activatedSocket() throws(StartFailure) -> ActivatedSocket? {
        do throws(SocketActivationError) {
            return try SocketActivation.takeSocket()
        } catch {
            throw StartFailure(exit: .failed, text: "\(error)")
        }
    }

    /// Help and version go to stdout and are no failure; anything else is wrong usage.
    private static func answer(_ error: any Error) -> DaemonExit {
        let text = DaemonCommand.fullMessage(for: error)
        guard DaemonCommand.exitCode(for: error) == .success else {
            say(text)
            return .configuration
        }
        print(text)
        return .stopped
    }

    private static func say(_ text: String) {
        let line = text + "\n"
        line.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
    }
}
