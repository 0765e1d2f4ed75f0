import BrokerConfig
import BrokerHost
import Logging
import ServiceLifecycle

extension RunningBroker {
    /// Returns after SIGTERM or SIGINT, when everything in flight is answered and the vault is closed.
    func serveUntilStopped(reloading loader: ConfigurationLoader) async {
        // Nobody's session is everybody's.
        if !configuration.isSystemMode { watchSession() }
        var quiet = Logger(label: "lifecycle", factory: log.handler)
        quiet.logLevel = .warning
        // They stop in reverse order: the watchdog is fed until the last answer is out.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: WatchdogService(watchdog: Watchdog(of: listener, manager: manager, clock: clock)),
                        successTerminationBehavior: .ignore),
                    .init(
                        service: IdleLockService(lock: engine.lock, clock: clock),
                        successTerminationBehavior: .ignore),
                    .init(
                        service: KeyArrivalService(lock: engine.lock), successTerminationBehavior: .ignore),
                    .init(
                        service: MemoryService(
                            keeper: MemoryKeeper(
                                uses: { [gate = engine.gate] in gate.uses }, clock: clock,
                                forget: { [vault] in vault.forgetOpened() },
                                release: { [engine, vault] in
                                    engine.trim()
                                    vault.trim()
                                    ResidentMemory.release()
                                })),
                        successTerminationBehavior: .ignore),
                    .init(
                        service: SignalService(
                            signals: signals, started: configuration, loader: loader, reading: reading,
                            apply: { await apply($0) },
                            manager: manager, logger: logger),
                        successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(
                        service: ListeningService(
                            listener: listener, doors: doorListeners, sandboxes: sandboxes, engine: engine,
                            grants: policy.grants,
                            http: http, manager: manager, logger: logger, ownSocket: ownSocket)),
                ], logger: quiet))
        do {
            try await group.run()
        } catch {
            logger.error("a part of the broker ended by itself", metadata: ["cause": "\(error)"])
        }
        await policy.grants.flush()
        await audit.stop()
        await vault.close()
        await http.shutdown()
        await reactor.stop()
        try? await loops.shutdownGracefully()
        logger.info("stopped")
    }

    private func watchSession() {
        let (lock, logger) = (engine.lock, logger)
        SessionWatch(sleep: configuration.lock.onSuspend, screen: configuration.lock.onScreenLock).start { event in
            await lock.lock(because: event.rawValue)
        } onTrouble: { number in
            logger.warning(
                "logind cannot be heard, so the broker does not lock by itself", metadata: ["errno": "\(number)"])
        }
    }
}
