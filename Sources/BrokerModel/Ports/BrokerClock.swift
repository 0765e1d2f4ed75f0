import BrokerValues

/// The only source of time.
package protocol BrokerClock: Sendable {
    /// Wall clock, for expiries; it can jump.
    var now: NumericDate { get }
    /// Time since boot that includes suspend (CLOCK_BOOTTIME), for waits and intervals.
    var uptime: Duration { get }
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The only source of randomness: state, nonce, verifier, ids.
package protocol RandomSource: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}
