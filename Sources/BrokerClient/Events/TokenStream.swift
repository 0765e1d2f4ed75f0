import BrokerLink
import BrokerRPC
import BrokerValues

extension PublicClientApplication {
    /// Gets a token without disturbing the person, and each next one before the last expires.
    ///
    /// ```swift
    /// for try await token in try await application.tokens(with: parameters) { … }
    /// ```
    ///
    /// The stream uses a connection of its own, which ends with the loop. The loop ends by throwing the reason why there are no
    /// more tokens: ``BrokerClientError/Code/interactionRequired`` after a sign-out, ``BrokerClientError/Code/accessDenied`` after
    /// a grant was revoked, ``BrokerClientError/Code/locked``, ``BrokerClientError/Code/offline`` if the provider could not be
    /// reached before the token expired, and ``BrokerClientError/Code/connectionLost`` if the broker goes away: begin again then.
    ///
    /// - Parameter parameters: the parameters of a silent request; `forceRefresh` and `rejectedToken` apply to the first token
    ///   only.
    /// - Returns: the tokens, the first of them at once. The newest 16 are kept for a slow reader.
    /// - Throws: like ``acquireTokenSilent(with:)``.
    public func tokens(
        with parameters: SilentTokenParameters
    ) async throws(BrokerClientError) -> AsyncThrowingStream<TokenResult, any Error> {
        try await EventFeed.open(
            WatchToken.self, silentParams(parameters), at: .resolve(path: configuration.socketPath), keeping: 16
        ) { node throws(BrokerClientError) in
            TokenResult(try Token.decoded(node))
        } reading: { notification in
            switch notification.method {
            case TokenChanged.name:
                guard let event = try? TokenChanged.Params(reading: notification.params) else { return .nothing }
                return .event(TokenResult(event.token))
            case TokenEnded.name:
                guard let event = try? TokenEnded.Params(reading: notification.params) else { return .nothing }
                return .end(BrokerClientError(event.error))
            default: return .nothing
            }
        }
    }
}
