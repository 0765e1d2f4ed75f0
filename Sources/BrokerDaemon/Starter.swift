import BrokerConfig
import BrokerHost
import BrokerRPC
import BrokerServer
import BrokerSocket
import BrokerValues
import Glibc
import Logging

/// Brings the broker up. Where systemd holds the socket, clients wait in its queue: as long as there are any, each gets
/// another attempt, and is told why it failed.
///
/// So a mistake in the configuration ends well: `brokerctl` names it, systemd does not start the daemon in a circle until
/// it gives up on the socket, and when the mistake is mended the next request is answered.
struct Starter {
    let loader: ConfigurationLoader
    /// The sockets that systemd passed in.
    let activated: ActivatedSockets?
    let hardening: [ProcessHardening.Outcome]
    /// Tells the person who looks at the terminal or the journal.
    let report: (StartFailure) -> Void

    /// How long another client is waited for. It bounds how often systemd starts a broker for clients in vain.
    private static let patience = Duration.seconds(3)
    /// When it is systemd's turn again: it bounds how long a unit may be starting.
    private static let longest = Duration.seconds(30)

    /// - Throws: the last failure, reported by then.
    func start() async throws(StartFailure) -> RunningBroker {
        var failure: StartFailure
        do throws(StartFailure) {
            return try await attempt()
        } catch {
            report(error)
            failure = error
        }
        guard let activated, failure.isRetryable else { throw failure }
        let deadline = ContinuousClock.now + Self.longest
        var queue = StartupFailureResponder(
            [activated.main.descriptor] + activated.others.values.map(\.descriptor),
            servedUID: loader.isSystemMode ? nil : geteuid())
        var patience = Duration.zero
        while queue.hasClient(within: patience), ContinuousClock.now < deadline {
            if patience > .zero {
                do throws(StartFailure) {
                    return try await attempt()
                } catch {
                    if error.text != failure.text { report(error) }
                    failure = error
                }
            }
            ServiceManager().status(failure.text)
            let error = BrokerError.notStarted(failure.text)
            queue.answerAll { listener in
                Doors.refusal(error, at: activated.others.first { $0.value.descriptor == listener }?.key)
            }
            patience = Self.patience
        }
        throw failure
    }

    private func attempt() async throws(StartFailure) -> RunningBroker {
        let configuration = try BrokerDaemon.configuration(loader).configuration
        let log = BrokerLog(level: Logger.Level(rawValue: configuration.log.level) ?? .info)
        for outcome in hardening where outcome.isWorthAWarning {
            log.logger(label: "brokerd").warning(
                "the process could not be hardened",
                metadata: ["measure": "\(outcome.measure.rawValue)", "errno": "\(outcome.failure ?? 0)"])
        }
        return try await RunningBroker.start(
            configuration, from: loader.files, activated: activated, log: log)
    }
}

extension StartFailure {
    /// Whether somebody may mend it while the socket waits.
    var isRetryable: Bool { exit == .configuration || exit == .vault }
}

extension BrokerError {
    static func notStarted(_ why: String) -> BrokerError {
        let end = why.last.map { ".!?".contains($0) } == true ? "" : "."
        return BrokerError(
            .internal, "The broker cannot start: \(why)\(end) Mend that, then try again.", reason: .notStarted)
    }
}
