/// Looks again and again until something is so.
///
/// The time limit only ends a test that would hang; it says nothing about how long the thing may take.
package func eventually(
    _ what: String, seconds: Double = 30, _ isSo: @Sendable () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    while try await !isSo() {
        guard clock.now < end else { throw ProcessFailure("It did not happen within \(seconds) s that \(what).") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
