import BrokerConfig
import BrokerHost
import Logging
import ServiceLifecycle

extension RunningBroker {
    /// Returns after SIGTERM or SIGINT, when everything in flight is answered and the vault is closed.
    func serveUntilStopped(reloading loader: ConfigurationLoader) async {
        // In system mode, no single session stands for all users.
        if !configuration.isSystemMode { watchSession() }
        var quiet = Logger(label: "lifecycle", factory: log.handler)
        quiet.logLevel = .warning
        let lock = engine.broker.lock
        // Pings as long as the event loop and its tasks run.
        let watchdog = Watchdog(manager: manager, clock: clock) { [listeners] in try await listeners.main.heartbeat() }
        let memory = MemoryKeeper(
            uses: { [gate = engine.broker.gate] in gate.uses }, clock: clock,
            forget: { [vault] in vault.forgetOpened() },
            release: { [broker = engine.broker, vault] in
                broker.trim()
                vault.trim()
                ResidentMemory.release()
            })
        // Services stop in reverse order: the watchdog is notified until the last answer is sent.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(beside: "WatchdogService") { await watchdog.run() },
                    .init(beside: "IdleLockService") { await lockWhenIdle() },
                    // A broker that started without its key is unlocked once the key is available.
                    .init(beside: "KeyArrivalService") { if lock.isLocked { await lock.unlockByItself() } },
                    .init(beside: "MemoryService") { await memory.run() },
                    .init(
                        SignalService(
                            signals: signals, started: configuration, loader: loader, reading: reading,
                            apply: { await apply($0) },
                            manager: manager, logger: logger), .gracefullyShutdownGroup),
                    .init(
                        ListeningService(
                            listeners: listeners, engine: engine.broker, http: http, manager: manager, logger: logger),
                        .cancelGroup),
                ], logger: quiet))
        do {
            try await group.run()
        } catch {
            logger.error("a part of the broker ended by itself", metadata: ["cause": "\(error)"])
        }
        await server.policy.grants.flush()
        await server.audit.stop()
        await vault.close()
        await listeners.reactor.stop()
        try? await engine.loops.shutdownGracefully()
        logger.info("stopped")
    }

    /// Locks the broker after a time without requests. The rule is in ``BrokerLock`` and holds without this timer as
    /// well: a request that comes too late finds it locked.
    private func lockWhenIdle() async {
        // The longest delay before a limit from a reload takes effect.
        let longestPause = Duration.seconds(60)
        do {
            while true {
                try await clock.sleep(for: min(engine.broker.lock.lockIfIdle() ?? longestPause, longestPause))
            }
        } catch {}
    }

    private func watchSession() {
        let (lock, logger) = (engine.broker.lock, logger)
        SessionWatch.start(sleep: configuration.lock.onSuspend, screen: configuration.lock.onScreenLock) { event in
            await lock.lock(because: event.rawValue)
        } onTrouble: { number in
            logger.warning(
                "cannot listen to logind, so the broker does not lock by itself", metadata: ["errno": "\(number)"])
        }
    }
}

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// Names the service by its type. By default the library names it by its description, which would be a dump of the whole broker.
    ///
    /// - Parameter end: the behavior when the service has ended without an error.
    fileprivate init(_ service: some Service, _ end: TerminationBehavior) {
        self.init(service: service, successTerminationBehavior: end, serviceName: "\(type(of: service))")
    }

    fileprivate init(beside name: String, _ work: @escaping @Sendable () async -> Void) {
        self.init(service: WorkBeside(work: work), successTerminationBehavior: .ignore, serviceName: name)
    }
}

/// Work beside the requests, which a stop cancels.
private struct WorkBeside: Service {
    let work: @Sendable () async -> Void

    func run() async { await cancelWhenGracefulShutdown { await work() } }
}
