import BrokerAccess
import BrokerEngine
import BrokerHost
import BrokerServer
import BrokerSocket
import Logging
import ServiceLifecycle

/// From "ready" to "everything in flight is answered".
struct ListeningService: Service {
    let listener: LineListener
    let sandboxes: SandboxSockets
    let engine: TokenBroker
    let grants: GrantBook
    let manager: ServiceManager
    let logger: Logger

    /// Longer than one request to a provider takes (30 s), shorter than systemd waits before it kills (45 s).
    private static let patience = Duration.seconds(35)

    func run() async {
        manager.ready(status: "Serving")
        logger.info("ready")
        try? await gracefulShutdown()
        logger.info("stopping: finishing what is in flight")
        manager.stopping()
        manager.extendTimeout(by: Self.patience + .seconds(5))
        grants.endWaits()
        async let drained: Void = engine.drain()
        async let cutOff = listener.shutDown(within: Self.patience)
        async let closed: Void = sandboxes.shutDown(within: Self.patience)
        _ = await (drained, cutOff, closed)
    }
}
