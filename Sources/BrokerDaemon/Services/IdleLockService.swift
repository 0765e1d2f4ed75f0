import BrokerEngine
import BrokerModel
import ServiceLifecycle

/// Locks the broker after a time without requests. The rule is in ``BrokerLock`` and holds without this timer as well:
/// a request that comes too late finds it locked.
struct IdleLockService: Service {
    let lock: BrokerLock
    let clock: any BrokerClock

    /// The longest delay before a limit from a reload takes effect.
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
