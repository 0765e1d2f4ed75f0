import BrokerModel

/// Lets go what is in memory for a moment only, and gives memory back when nothing is asked for: what a burst needed, and what
/// starting did.
package struct MemoryKeeper: Sendable {
    private let uses: @Sendable () -> UInt64
    private let clock: any BrokerClock
    private let forget: @Sendable () -> Void
    private let release: @Sendable () -> Void

    /// From one look to the next.
    package static let pause = Duration.seconds(10)
    /// Threads that had work end some seconds after it, and what they kept is free memory then.
    package static let releases = 2

    /// - Parameters:
    ///   - uses: how often something was asked for so far.
    ///   - forget: called after each ``pause``.
    ///   - release: called when nothing was asked for in a ``pause``, and ``releases`` times in all until something is again.
    package init(
        uses: @escaping @Sendable () -> UInt64, clock: any BrokerClock, forget: @escaping @Sendable () -> Void,
        release: @escaping @Sendable () -> Void
    ) {
        self.uses = uses
        self.clock = clock
        self.forget = forget
        self.release = release
    }

    /// Returns when its task is cancelled.
    package func run() async {
        var (seen, left) = (UInt64?.none, 0)
        do {
            while true {
                let before = uses()
                try await clock.sleep(for: Self.pause)
                forget()
                guard uses() == before else { continue }
                if seen != before { (seen, left) = (before, Self.releases) }
                guard left > 0 else { continue }
                release()
                left -= 1
            }
        } catch {}
    }
}
