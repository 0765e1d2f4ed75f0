import BrokerValues

/// The only source of time.
package protocol BrokerClock: Sendable {
    /// Wall clock, for expiries; it can jump.
    var now: NumericDate { get }
    /// Time since boot that goes on during suspend (CLOCK_BOOTTIME), for waits and intervals.
    var uptime: Duration { get }
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The only source of chance: state, nonce, verifier, ids.
package protocol RandomSource: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}
