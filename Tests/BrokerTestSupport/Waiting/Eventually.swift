import Foundation

/// Seconds after which a test that would hang ends: 600, or the value of `BROKER_TEST_PATIENCE`. Only a hang reaches it, however
/// busy the machine is.
package let usualPatience = ProcessInfo.processInfo.environment["BROKER_TEST_PATIENCE"].flatMap(Double.init) ?? 600

/// Polls until a condition holds.
///
/// The time limit only ends a test that would hang; it does not limit the time that the condition may take.
package func eventually(
    _ what: String, seconds: Double = usualPatience, isolation: isolated (any Actor)? = #isolation,
    _ isSo: () async throws -> Bool
) async throws {
    _ = try await awaited(what, seconds: seconds) { try await isSo() ? true : nil }
}

/// Polls until there is a value, and returns it.
package func awaited<Value>(
    _ what: String, seconds: Double = usualPatience, isolation: isolated (any Actor)? = #isolation,
    _ look: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    while true {
        if let value = try await look() { return value }
        guard clock.now < end else { throw ProcessFailure("It did not happen within \(seconds) s that \(what).") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
