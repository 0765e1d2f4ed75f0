import BrokerHost
import ServiceLifecycle

/// Gives memory back when nothing is asked for.
struct MemoryService: Service {
    let keeper: MemoryKeeper

    func run() async { await cancelWhenGracefulShutdown { await keeper.run() } }
}
