import Foundation

/// Seconds after which a test that would hang ends: 600, or what `BROKER_TEST_PATIENCE` says. Only a hang reaches them, however
/// busy the machine is.
package let usualPatience = ProcessInfo.processInfo.environment["BROKER_TEST_PATIENCE"].flatMap(Double.init) ?? 600

/// Looks again and again until something is so.
///
/// The time limit only ends a test that would hang; it says nothing about how long the thing may take.
package func eventually(
    _ what: String, seconds: Double = usualPatience, isolation: isolated (any Actor)? = #isolation,
    _ isSo: () async throws -> Bool
) async throws {
    _ = try await awaited(what, seconds: seconds) { try await isSo() ? true : nil }
}

/// Looks again and again until there is something to be seen, and gives that.
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
