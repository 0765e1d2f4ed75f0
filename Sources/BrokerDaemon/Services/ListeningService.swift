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
    /// How long one request to a provider may take.
    let requestTimeout: Duration
    let logger: Logger

    /// Who waits for a provider has an answer by then.
    private var patience: Duration { requestTimeout + .seconds(5) }

    /// A refresh waits twice as long as a request may take, and what nobody keeps is given back in one more. Whoever kills the
    /// broker earlier may end a sign-in: the provider has replaced the token by then.
    private var longest: Duration { requestTimeout * 3 + .seconds(10) }

    func run() async {
        manager.ready(status: "Serving")
        logger.info("ready")
        try? await gracefulShutdown()
        logger.info("stopping: finishing what is in flight")
        manager.stopping()
        manager.extendTimeout(by: longest)
        grants.endWaits()
        async let drained: Void = engine.drain()
        async let cutOff = listener.shutDown(within: patience)
        async let closed: Void = sandboxes.shutDown(within: patience)
        _ = await (drained, cutOff, closed)
    }
}
