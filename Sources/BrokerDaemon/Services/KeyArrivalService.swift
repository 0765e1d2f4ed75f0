import BrokerEngine
import ServiceLifecycle

/// Unlocks a broker that started without its key, once the key is available.
struct KeyArrivalService: Service {
    let lock: BrokerLock

    func run() async {
        guard lock.isLocked else { return }
        await cancelWhenGracefulShutdown { await lock.unlockByItself() }
    }
}
