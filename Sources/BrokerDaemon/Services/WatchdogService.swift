import BrokerHost
import BrokerModel
import BrokerSocket
import ServiceLifecycle

/// Tells systemd's watchdog that the broker lives, as long as its event loop runs what it is given.
struct WatchdogService: Service {
    let listener: LineListener
    let manager: ServiceManager
    let clock: any BrokerClock

    func run() async {
        guard let interval = manager.watchdogInterval else { return }
        await cancelWhenGracefulShutdown {
            do {
                while true {
                    // A loop that hangs never answers: no ping goes out, and systemd starts the broker anew.
                    try await listener.heartbeat()
                    manager.watchdogPing()
                    try await clock.sleep(for: interval / 2)
                }
            } catch {}
        }
    }
}
