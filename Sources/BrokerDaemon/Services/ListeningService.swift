import BrokerAccess
import BrokerEngine
import BrokerHost
import BrokerOAuth
import BrokerServer
import BrokerSocket
import Logging
import ServiceLifecycle

/// Reports that the broker is ready, and at shutdown waits until everything in flight is answered.
struct ListeningService: Service {
    let listener: LocalListener
    /// The listeners of the doors.
    let doors: [LocalListener]
    let sandboxes: SandboxSockets
    let engine: TokenBroker
    let grants: GrantStore
    let http: HTTPClient
    let manager: ServiceManager
    let logger: Logger
    /// The path of the socket; `nil` if systemd made it.
    let ownSocket: String?

    /// How long a stop waits for providers. The next broker starts only after this one has exited, and until then no client
    /// gets a token, not even a cached one. An abandoned refresh keeps its mark, and the next request tries its token once
    /// more (decision 18).
    private static let patience = Duration.seconds(5)

    func run() async {
        manager.ready(status: "Serving")
        logger.info("ready", metadata: ownSocket.map { ["socket": "\($0)"] })
        try? await gracefulShutdown()
        logger.info("stopping: finishing what is in flight")
        manager.stopping()
        grants.endWaits()
        async let _: Void = giveUp()
        async let drained: Void = engine.drain()
        async let cutOff = listener.shutDown(within: Self.patience + .seconds(1))
        async let shut: Void = shutDoors()
        async let closed: Void = sandboxes.shutDown(within: Self.patience + .seconds(1))
        _ = await (drained, cutOff, shut, closed)
    }

    private func shutDoors() async {
        for door in doors { await door.shutDown(within: Self.patience + .seconds(1)) }
    }

    /// Gives up requests to providers after ``patience``. The task is canceled when nothing is in flight.
    private func giveUp() async {
        guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
        logger.notice("requests to providers were given up, so that the next broker can start")
        http.abandon()
    }
}
