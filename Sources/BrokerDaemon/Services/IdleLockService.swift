import BrokerEngine
import BrokerModel
import ServiceLifecycle

/// Locks the broker when nobody has asked for long enough. The rule is ``BrokerLock``'s, and holds without this timer, too:
/// a request that comes too late finds it locked.
struct IdleLockService: Service {
    let lock: BrokerLock
    let clock: any BrokerClock

    /// How soon a limit that a reload brings is noticed.
    private static let longestPause = Duration.seconds(60)

    func run() async {
        await cancelWhenGracefulShutdown {
            do {
                while true {
                    try await clock.sleep(for: min(lock.lockIfIdle() ?? Self.longestPause, Self.longestPause))
                }
            } catch {}
        }
    }
}
