import BrokerHost
import ServiceLifecycle

/// Releases memory while the broker is idle.
struct MemoryService: Service {
    let keeper: MemoryKeeper

    func run() async { await cancelWhenGracefulShutdown { await keeper.run() } }
}
