/// How much an attempt to get a key may cost.
package enum KeyAttempt: Sendable {
    /// The broker starts: callers wait. The user is not prompted.
    case atStart
    /// The user neither waits nor is prompted.
    case unasked
    /// The user waits, and may be prompted.
    case asked

    /// The timeout for the program that has the key.
    var patience: Duration { self == .atStart ? .seconds(3) : .seconds(120) }
}
