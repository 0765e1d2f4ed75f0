/// What an attempt to have a key may cost.
package enum KeyAttempt: Sendable {
    /// The broker starts: callers wait. Nobody is asked.
    case atStart
    /// Nobody waits, and nobody is asked.
    case unasked
    /// A person waits, and may be asked.
    case asked

    /// For a program that has the key.
    var patience: Duration { self == .atStart ? .seconds(3) : .seconds(120) }
}
