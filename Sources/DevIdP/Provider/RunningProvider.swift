/// A running provider, and its control by tests.
package final class RunningProvider: Sendable {
    /// The issuer of a plain provider; one with tenants has an issuer for each, see ``authority(_:)``.
    package let issuer: String
    /// Scheme, host and port.
    package let origin: String
    /// The port on which it listens; its URLs contain ``ProviderOptions/frontPort``, if set.
    package let port: Int
    package let flavor: ProviderFlavor
    private let provider: Provider
    private let serving: Task<Void, Never>

    init(_ provider: Provider, port: Int, serving: Task<Void, Never>) {
        self.provider = provider
        self.port = port
        self.serving = serving
        issuer = provider.base
        origin = provider.origin
        flavor = provider.options.flavor
    }

    /// The authority of a tenant, of `common`, `organizations` or `consumers`, at a provider that has tenants.
    package func authority(_ tenant: String) -> String { "\(origin)/\(tenant)" }

    deinit { serving.cancel() }

    /// Closes the socket and every connection.
    package func stop() async {
        serving.cancel()
        await serving.value
    }

    /// The requests so far, oldest first.
    package var log: [LogEntry] { provider.log.withLock { $0.entries } }

    package func clearLog() { provider.log.withLock { $0.removeAll() } }

    package func add(_ fault: Fault) { provider.faults.withLock { $0.add(fault) } }

    package func removeFaults() { provider.faults.withLock { $0.removeAll() } }

    package func setPolicy(_ change: (inout TokenPolicy) -> Void) { provider.state.withLock { change(&$0.policy) } }

    /// Moves this provider's clock, and with it every expiry.
    package func advanceClock(by seconds: Int) { provider.state.withLock { $0.clockOffset += seconds } }

    package func expire(_ kind: ExpiringKind) { provider.expire(kind) }

    /// The user and the client of an access token, valid or not. `nil` if it never was one.
    package func holder(of accessToken: String) -> (username: String, clientID: String)? {
        provider.state.withLock { $0.tokens.holder(of: accessToken) }
    }

    /// How often an already exchanged refresh token was sent again.
    package var repeatedRefreshes: Int { provider.state.withLock { $0.tokens.repeatedRefreshes } }

    /// Ends every grant, as an administrator would.
    package func revokeAllGrants() { provider.state.withLock { $0.tokens.revokeAll() } }

    /// Decides about a device in place of a person; without a name the device is denied.
    ///
    /// - Returns: false if no device waits with this code, or the person is unknown.
    @discardableResult
    package func decideDevice(_ userCode: String, approvedBy username: String?) -> Bool {
        provider.decideDevice(userCode, approvedBy: username)
    }

    /// From now on token requests, or the authorization requests before them, must request these claims; an empty
    /// object requires nothing.
    ///
    /// - Parameter claims: JSON, as in a `claims` parameter (OpenID Connect Core, section 5.5).
    package func requireClaims(_ claims: String) throws {
        let required = try ClaimsRequest(claims)
        provider.state.withLock { $0.requiredClaims = required }
    }

    /// Replaces the signing keys; the old ones leave the JWKS at once.
    package func rotateKeys() throws { try provider.rotateKeys() }
}
