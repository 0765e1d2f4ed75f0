import BrokerValues

extension NumericDate {
    /// The time of an imported record. One in the future comes from a clock that was wrong: it counts as unknown, which is older than
    /// anything, so that the record replaces nothing.
    static func imported(_ time: NumericDate?, at now: NumericDate) -> NumericDate {
        if let time, time <= now { time } else { 0 }
    }
}
