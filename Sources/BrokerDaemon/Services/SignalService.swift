import BrokerConfig
import BrokerHost
import Logging
import ServiceLifecycle
import UnixSignals

/// SIGHUP reloads the configuration and applies the settings that can change at run time; SIGTERM and SIGINT end this
/// service, and with it the broker.
///
/// The signals are trapped before the socket accepts: a client of an accepting broker may send it one, and the default
/// action would kill it. Signals that arrive before this service starts wait in the sequence.
struct SignalService: Service {
    let signals: UnixSignalsSequence
    let started: BrokerConfiguration
    let loader: ConfigurationLoader
    let reading: ConfigurationReading
    /// Passes a configuration to all parts of the broker.
    let apply: @Sendable (BrokerConfiguration) async -> Void
    let manager: ServiceManager
    let logger: Logger

    static func trap() async -> UnixSignalsSequence {
        await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    }

    func run() async {
        var current = started
        for await signal in signals.cancelOnGracefulShutdown() {
            guard signal == .sighup else { return }
            manager.reloading()
            let (next, mistake) = await reload(current)
            current = next
            manager.ready(status: mistake.map { "Serving as configured before: \($0)" } ?? "Serving")
        }
    }

    /// A configuration with a mistake changes nothing.
    private func reload(_ current: BrokerConfiguration) async -> (
        next: BrokerConfiguration, mistake: ConfigurationError?
    ) {
        do throws(ConfigurationError) {
            let wanted = try loader.load().configuration
            let next = Setting.reloading(current, from: wanted)
            await apply(next)
            logger.notice("configuration reloaded")
            let pending = Setting.changed(from: next, to: wanted)
            reading.happened(pending: pending.map(\.name))
            for setting in pending {
                logger.warning(
                    "the setting \(setting.name) takes effect after a restart only",
                    metadata: ["setting": "\(setting.name)"])
            }
            return (next, nil)
        } catch {
            logger.error("the configuration was not reloaded", metadata: ["cause": "\(error)"])
            return (current, error)
        }
    }
}
