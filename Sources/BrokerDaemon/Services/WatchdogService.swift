import BrokerHost
import BrokerModel
import BrokerSocket
import ServiceLifecycle

/// Feeds systemd's watchdog as long as the event loop turns, and the tasks that it starts run.
struct WatchdogService: Service {
    let watchdog: Watchdog

    func run() async { await cancelWhenGracefulShutdown { await watchdog.run() } }
}

extension Watchdog {
    init(of listener: LocalListener, manager: ServiceManager, clock: any BrokerClock) {
        self.init(manager: manager, clock: clock) { try await listener.heartbeat() }
    }
}
