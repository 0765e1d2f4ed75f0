/// How long a connection may have been idle and still be used. One from before the machine slept is never used again: the
/// other end has given it up meanwhile, and a request on it would wait for nothing.
package struct IdleLimit {
    private let longest: Duration
    /// Of the machine, since it was started.
    private var slept: Duration?
    /// On the clock that stands still while it sleeps.
    private var woke: Duration?

    package init(longest: Duration) { self.longest = longest }

    /// - Parameters:
    ///   - awake: the clock that stands still while the machine sleeps, by which libcurl counts.
    ///   - uptime: the one that goes on.
    package mutating func now(awake: Duration, uptime: Duration) -> Duration {
        let slept = uptime - awake
        defer { self.slept = slept }
        if let before = self.slept, slept - before > .seconds(1) { woke = awake }
        guard let woke else { return longest }
        // libcurl takes whole seconds, and 0 for no limit.
        return min(longest, max(.seconds(1), awake - woke))
    }
}
