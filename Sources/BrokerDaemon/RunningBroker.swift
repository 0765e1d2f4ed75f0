import BrokerConfig
import BrokerHost
import BrokerModel
import BrokerOAuth
import BrokerServer
import BrokerSocket
import BrokerVault
import Logging
import ServiceLifecycle
import UnixSignals

/// The whole broker: the only place that constructs and connects the parts.
struct RunningBroker: Sendable {
    let configuration: BrokerConfiguration
    let reading: ConfigurationReading
    let log: BrokerLog
    let logger: Logger
    let clock: SystemClock
    let vault: Vault
    let http: HTTPClient
    let reach: PrivateReach
    let engine: EngineParts
    let server: ServerParts
    let listeners: Listeners
    let signals: UnixSignalsSequence
    let manager = ServiceManager()

    /// Starts the broker. A failure before the vault is open leaves nothing behind, so that the start may be retried.
    ///
    /// - Parameter activated: the sockets from systemd; without any the broker binds its own.
    static func start(
        _ configuration: BrokerConfiguration, from files: ConfigurationFiles, activated: ActivatedSockets?,
        log: BrokerLog
    ) async throws(StartFailure) -> RunningBroker {
        let logger = log.logger(label: "brokerd")
        let clock = SystemClock()
        try StartFailure.orThrow(.failed) { () throws(SignatureLibrary.Unusable) in try SignatureLibrary.check() }
        let reach = PrivateReach(allowsAll: configuration.access.allowPrivateAuthorities)
        let http = try HTTPClient.start(configuration, reach, logger)
        reportUnguardedSecrets(to: logger)
        let vault: Vault
        do throws(StartFailure) {
            vault = try await Storage(configuration: configuration, clock: clock, logger: logger).openVault()
        } catch {
            await http.shutdown()
            throw error
        }
        configuration.reportMistakes(to: logger)
        let payer = payer(configuration)
        let engine = EngineParts(configuration, vault, http, payer: payer, clock: clock, logger: logger)
        reach.apply(engine.directory)
        let sandboxes = SandboxSockets(
            in: configuration.sandboxFolders, clock: clock, random: SystemRandom(), payer: payer, log: logger)
        let reading = ConfigurationReading(of: files, clock: clock)
        let server = ServerParts(
            configuration, engine, vault, sandboxes, payer: payer, reading: reading, clock: clock, logger: logger)
        let signals = await SignalService.trap()
        let listeners: Listeners
        do throws(SocketError) {
            listeners = try await Listeners.open(
                configuration, Server(server), sandboxes, activated: activated, logger: logger)
        } catch {
            throw StartFailure(exit: .failed, text: "\(error)")
        }
        return RunningBroker(
            configuration: configuration, reading: reading, log: log, logger: logger, clock: clock, vault: vault,
            http: http, reach: reach, engine: engine, server: server, listeners: listeners, signals: signals)
    }

    private static func reportUnguardedSecrets(to logger: Logger) {
        UnguardedSecrets.whenMore { count in
            logger.error(
                "the system provides no more locked memory for secrets; they may be swapped",
                metadata: ["count": "\(count)"])
        }
    }

    /// The user whose quota a user's requests count against.
    private static func payer(_ configuration: BrokerConfiguration) -> @Sendable (Partition) -> Partition {
        guard configuration.isSystemMode else { return { $0 } }
        let users = SubordinateUsers()
        return { Partition(uid: users.owner(of: $0.uid)) }
    }

    /// Gives every part the settings that a reload may change. They take effect with the next request; requests in progress
    /// continue unchanged.
    func apply(_ configuration: BrokerConfiguration) async {
        // First, so that the log level also applies to the changes below.
        if let level = Logger.Level(rawValue: configuration.log.level) { log.level = level }
        configuration.reportMistakes(to: logger)
        engine.apply(configuration)
        server.apply(configuration)
        reach.apply(allowsAll: configuration.access.allowPrivateAuthorities)
        await listeners.apply(configuration)
    }
}
