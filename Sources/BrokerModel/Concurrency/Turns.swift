/// Runs one piece of work after the other.
package actor Turns {
    private var last: Task<Void, Never>?

    package init() {}

    /// Canceling the caller does not end the work.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let before = last
        let mine = Task { () async -> Result<Value, Failure> in
            await before?.value
            do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
        }
        last = Task { _ = await mine.value }
        return try await mine.value.get()
    }
}
