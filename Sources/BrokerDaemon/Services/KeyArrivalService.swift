import BrokerEngine
import ServiceLifecycle

/// Opens a broker that started without its key, when the key has come.
struct KeyArrivalService: Service {
    let lock: BrokerLock

    func run() async {
        guard lock.isLocked else { return }
        await cancelWhenGracefulShutdown { await lock.unlockByItself() }
    }
}
