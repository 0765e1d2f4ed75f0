/// A provider that serves, and a test's hold on it.
package final class RunningProvider: Sendable {
    package let issuer: String
    package let port: Int
    private let provider: Provider
    private let serving: Task<Void, Never>

    init(_ provider: Provider, port: Int, serving: Task<Void, Never>) {
        self.provider = provider
        self.port = port
        self.serving = serving
        issuer = provider.issuer
    }

    deinit { serving.cancel() }

    /// Closes the socket and every connection.
    package func stop() async {
        serving.cancel()
        await serving.value
    }

    /// Returns when the provider has ended.
    package func wait() async { await serving.value }

    /// The requests so far, oldest first.
    package var log: [LogEntry] { provider.log.withLock { $0.entries } }

    package func clearLog() { provider.log.withLock { $0.removeAll() } }

    package func add(_ fault: Fault) { provider.faults.withLock { $0.add(fault) } }

    package func removeFaults() { provider.faults.withLock { $0.removeAll() } }

    package func setPolicy(_ change: (inout TokenPolicy) -> Void) { provider.state.withLock { change(&$0.policy) } }

    /// Moves this provider's clock, and with it every expiry.
    package func advanceClock(by seconds: Int) { provider.state.withLock { $0.clockOffset += seconds } }

    package func expire(_ kind: ExpiringKind) { provider.expire(kind) }

    /// Ends every grant, as an administrator would.
    package func revokeAllGrants() { provider.state.withLock { $0.tokens.revokeAll() } }

    /// Replaces the signing keys; the old ones leave the JWKS at once.
    package func rotateKeys() async throws { try await provider.rotateKeys() }
}
