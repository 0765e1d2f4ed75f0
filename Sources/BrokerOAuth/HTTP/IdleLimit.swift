/// How long a connection may have been idle and still be used. One from before the machine slept is never used again: the
/// other end has dropped it in the meantime, and a request on it would wait for nothing.
package struct IdleLimit {
    private let longest: Duration
    /// The machine's total sleep since it was started.
    private var slept: Duration?
    /// On the clock that stops during sleep.
    private var woke: Duration?

    package init(longest: Duration) { self.longest = longest }

    /// - Parameters:
    ///   - awake: the clock that stops while the machine sleeps, which libcurl uses.
    ///   - uptime: the clock that continues.
    package mutating func now(awake: Duration, uptime: Duration) -> Duration {
        let slept = uptime - awake
        defer { self.slept = slept }
        if let before = self.slept, slept - before > .seconds(1) { woke = awake }
        guard let woke else { return longest }
        // libcurl takes whole seconds, and 0 for no limit.
        return min(longest, max(.seconds(1), awake - woke))
    }
}
