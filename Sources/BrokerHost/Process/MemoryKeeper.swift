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

    /// - Parameters:
    ///   - uses: how often something was asked for so far.
    ///   - forget: called after each ``pause``.
    ///   - release: called when nothing was asked for in a ``pause``, once until something is again.
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
        var released: UInt64?
        do {
            while true {
                let before = uses()
                try await clock.sleep(for: Self.pause)
                forget()
                guard uses() == before, released != before else { continue }
                release()
                released = before
            }
        } catch {}
    }
}
