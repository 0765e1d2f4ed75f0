import BrokerModel

/// Pings systemd's watchdog as long as the process shows that it is alive.
package struct Watchdog: Sendable {
    private let manager: ServiceManager
    private let clock: any BrokerClock
    private let sign: @Sendable () async throws -> Void

    /// - Parameter sign: returns when everything that must run has run. If it never does, no ping is sent, and systemd restarts the
    ///   process.
    package init(manager: ServiceManager, clock: any BrokerClock, sign: @escaping @Sendable () async throws -> Void) {
        self.manager = manager
        self.clock = clock
        self.sign = sign
    }

    /// Returns when its task is canceled; at once if there is no watchdog.
    package func run() async {
        guard let interval = manager.watchdogInterval else { return }
        do {
            while true {
                try await sign()
                manager.watchdogPing()
                try await clock.sleep(for: interval / 2)
            }
        } catch {}
    }
}
