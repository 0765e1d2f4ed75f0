import BrokerConfig
import BrokerHost
import BrokerRPC
import BrokerServer
import BrokerSocket
import BrokerValues
import Glibc
import Logging

/// Starts the broker. If systemd holds the socket, clients wait in its queue: each one triggers another attempt, and gets
/// an answer that says why it failed.
///
/// A mistake in the configuration is then harmless: `brokerctl` reports it, systemd does not restart the daemon in a loop
/// until it gives up on the socket, and once the mistake is fixed the next request is answered.
struct Starter {
    let loader: ConfigurationLoader
    /// The sockets from systemd.
    let activated: ActivatedSockets?
    let hardening: [ProcessHardening.Outcome]
    /// Reports to the terminal or the journal.
    let report: (StartFailure) -> Void

    /// How long to wait for another client, which limits how often systemd starts a broker that cannot run.
    private static let patience = Duration.seconds(3)
    /// The time after which the process ends: systemd limits how long a unit may be starting.
    private static let longest = Duration.seconds(30)

    /// - Throws: the last failure, already reported.
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
        let configuration = try loader.loadAtStart().configuration
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
    /// Whether the cause can be fixed while the socket waits.
    var isRetryable: Bool { exit == .configuration || exit == .vault }
}

extension BrokerError {
    static func notStarted(_ why: String) -> BrokerError {
        let end = why.last.map { ".!?".contains($0) } == true ? "" : "."
        return BrokerError(
            .internal, "The broker cannot start: \(why)\(end) Fix this and try again.", reason: .notStarted)
    }
}
