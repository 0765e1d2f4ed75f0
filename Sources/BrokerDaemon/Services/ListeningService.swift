import BrokerEngine
import BrokerHost
import BrokerOAuth
import Logging
import ServiceLifecycle

/// Reports that the broker is ready, and at shutdown waits until everything in flight is answered.
struct ListeningService: Service {
    let listeners: Listeners
    let engine: TokenBroker
    let http: HTTPClient
    let manager: ServiceManager
    let logger: Logger

    /// How long a stop waits for providers. The next broker starts only after this one has exited, and until then no client
    /// gets a token, not even a cached one. An abandoned refresh keeps its mark, and the next request tries its token once
    /// more (decision 18).
    private static let patience = Duration.seconds(5)

    func run() async {
        manager.ready(status: "Serving")
        logger.info("ready", metadata: listeners.ownPath.map { ["socket": "\($0)"] })
        try? await gracefulShutdown()
        logger.info("stopping: finishing what is in flight")
        manager.stopping()
        engine.stop.begin()
        async let _: Void = giveUp()
        async let drained: Void = engine.drain()
        async let shut: Void = listeners.shutDown(within: Self.patience + .seconds(1))
        _ = await (drained, shut)
        await engine.finish()
        // Requests without a caller, such as a revocation, get the rest of the time.
        await http.shutdown()
    }

    /// Gives up requests to providers after ``patience``. The task is canceled when nothing is in flight.
    private func giveUp() async {
        guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
        logger.notice("requests to providers were given up, so that the next broker can start")
        http.abandon()
    }
}
