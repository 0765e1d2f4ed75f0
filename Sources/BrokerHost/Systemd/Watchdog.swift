import BrokerModel

/// Tells systemd's watchdog that the process lives, for as long as it gives a sign of it.
package struct Watchdog: Sendable {
    private let manager: ServiceManager
    private let clock: any BrokerClock
    private let sign: @Sendable () async throws -> Void

    /// - Parameter sign: returns when everything that must run has run. If it never does, no ping goes out, and systemd starts
    ///   the process anew.
    package init(manager: ServiceManager, clock: any BrokerClock, sign: @escaping @Sendable () async throws -> Void) {
        self.manager = manager
        self.clock = clock
        self.sign = sign
    }

    /// Returns when its task is cancelled; at once when nobody watches.
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
