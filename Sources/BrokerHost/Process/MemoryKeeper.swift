import BrokerModel

/// Drops short-lived caches, and returns memory of a burst, and of the start, to the kernel while the broker is idle.
package struct MemoryKeeper: Sendable {
    private let uses: @Sendable () -> UInt64
    private let clock: any BrokerClock
    private let forget: @Sendable () -> Void
    private let release: @Sendable () -> Void

    /// Time between two checks.
    package static let pause = Duration.seconds(10)
    /// The number of releases: threads end some seconds after their work, and their memory becomes free only then.
    package static let releases = 2

    /// - Parameters:
    ///   - uses: the number of requests so far.
    ///   - forget: called after each ``pause``.
    ///   - release: called if there was no request in a ``pause``, and ``releases`` times in all until there is one again.
    package init(
        uses: @escaping @Sendable () -> UInt64, clock: any BrokerClock, forget: @escaping @Sendable () -> Void,
        release: @escaping @Sendable () -> Void
    ) {
        self.uses = uses
        self.clock = clock
        self.forget = forget
        self.release = release
    }

    /// Returns when its task is canceled.
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
