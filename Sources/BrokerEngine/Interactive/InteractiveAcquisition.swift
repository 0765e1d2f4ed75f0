import BrokerModel
import BrokerValues
import Logging

/// `token.acquireInteractive`: authorization code with PKCE through the person's browser (RFC 6749, section 4.1;
/// RFC 7636; RFC 8252).
struct InteractiveAcquisition: Sendable {
    let services: EngineServices

    func acquire(
        _ request: InteractiveRequest, onOpen: @Sendable (InteractionOpening) -> Void
    ) async throws(BrokerError) -> AcquiredToken {
        try check(request)
        let destination = try RedirectDestination.parse(request.redirectURI ?? request.app.redirectURI)
        let expected = try expectedAccount(request)
        let metadata = try await metadata(of: request.target)
        let attempt = SignInAttempt(request, metadata: metadata, random: services.random)
        let endpoint = try await listen(at: destination, for: attempt.session)
        services.interactions.add(attempt.session)
        let outcome: Result<AcquiredToken, BrokerError>
        do throws(BrokerError) {
            let redirectURI = endpoint?.redirectURI ?? destination.uri
            try await present(attempt, request, redirectURI: redirectURI, expected: expected, onOpen: onOpen)
            let code = try await waitForCode(attempt.session, timeout: request.timeout)
            // The code is good once: what it brings is kept even when the caller has gone.
            outcome = await Task {
                await redeem(code, of: attempt, request, redirectURI: redirectURI, expected: expected)
            }.value
        } catch {
            outcome = .failure(error)
        }
        attempt.session.show(outcome.page(for: request.app))
        services.interactions.remove(attempt.session)
        await endpoint?.close()
        return try outcome.get()
    }

    private func check(_ request: InteractiveRequest) throws(BrokerError) {
        try ScopeRules.check(request.scopes.union(request.extraScopesToConsent))
        guard request.tokenType == .bearer else { throw ScopeRules.unsupportedTokenType }
        let taken = request.extraQueryParameters.keys.filter { request.sets($0.lowercased()) }.sorted()
        guard taken.isEmpty else {
            throw BrokerError(
                .invalidParameter,
                "The broker sets \(taken.joined(separator: ", ")) itself; leave it out of extraQueryParameters.")
        }
    }

    private func expectedAccount(_ request: InteractiveRequest) throws(BrokerError) -> KnownAccounts.Entry? {
        guard let selector = request.account else { return nil }
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        guard let entry = known.entries.first(where: { $0.matches(selector) }) else { throw AccountChoice.notFound }
        return entry
    }

    private func metadata(of authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        do throws(ProviderError) {
            return try await services.provider.metadata(of: authority)
        } catch {
            throw ProviderErrors.brokerError(error, at: authority)
        }
    }

    private func listen(
        at destination: RedirectDestination, for session: InteractionSession
    ) async throws(BrokerError) -> (any RedirectEndpoint)? {
        guard case .loopback(let target) = destination else { return nil }
        do throws(RedirectError) {
            return try await services.redirects.open(target) { await session.browserReturned(with: $0) }
        } catch {
            switch error {
            case .portInUse(let port):
                throw BrokerError(
                    .invalidParameter,
                    "Port \(port) of the redirect URI is in use by another program; end it, or register a redirect URI without a port.",
                    cause: error)
            case .cannotListen(let why):
                throw BrokerError(.internal, why, cause: error)
            }
        }
    }

    private func present(
        _ attempt: SignInAttempt, _ request: InteractiveRequest, redirectURI: String, expected: KnownAccounts.Entry?,
        onOpen: @Sendable (InteractionOpening) -> Void
    ) async throws(BrokerError) {
        let authorization = attempt.authorization(request, redirectURI: redirectURI, expected: expected)
        let url = try await authorizationURL(of: authorization, for: request, at: attempt.metadata)
        guard request.presentation == .broker else {
            return onOpen(
                InteractionOpening(
                    interactionID: attempt.session.id, url: url, redirectURI: redirectURI,
                    expiresOn: services.clock.now + request.timeout, correlationID: request.correlationID))
        }
        do throws(BrowserError) {
            try await services.browser.open(url)
        } catch {
            throw BrokerError(
                .unsupported, "The broker could not open a browser (\(error.message)); let the client open it.",
                cause: error)
        }
    }

    private func waitForCode(_ session: InteractionSession, timeout: Int64) async throws(BrokerError) -> Secret {
        let clock = services.clock
        let timer = Task {
            try await clock.sleep(for: .seconds(timeout))
            session.end(
                BrokerError(.timedOut, "Nobody finished the sign-in within \(timeout) seconds; start it again."))
        }
        defer { timer.cancel() }
        return try await session.code()
    }

    private func redeem(
        _ code: Secret, of attempt: SignInAttempt, _ request: InteractiveRequest, redirectURI: String,
        expected: KnownAccounts.Entry?
    ) async -> Result<AcquiredToken, BrokerError> {
        do throws(BrokerError) {
            let response: TokenResponse
            do throws(ProviderError) {
                response = try await services.provider.redeem(
                    .authorizationCode(code, verifier: attempt.verifier, redirectURI: redirectURI),
                    with: request.extras, as: request.app.credentials, at: attempt.metadata)
            } catch {
                throw ProviderErrors.brokerError(error, at: request.target)
            }
            let keeper = TokenKeeper(services: services, app: request.app, partition: request.partition)
            return .success(
                try await keeper.keepSignedIn(
                    response, asked: request.scopes, sent: ScopeRules.toAuthorize(request.scopes, extra: Scopes([])),
                    nonce: attempt.nonce, expected: expected, at: request.target, metadata: attempt.metadata))
        } catch {
            return .failure(error)
        }
    }
}

extension InteractiveRequest {
    var target: Authority { authority ?? app.authority }

    /// Whether a parameter of the authorization request is the broker's to set: given twice, nobody could say which counts.
    fileprivate func sets(_ parameter: String) -> Bool {
        switch parameter {
        case "max_age": maxAge != nil
        case "acr_values": !acrValues.isEmpty
        default: AuthorizationRequest.reservedParameters.contains(parameter)
        }
    }

    var extras: TokenRequestExtras {
        var extras = TokenRequestExtras()
        extras.claims = ClaimsRule.merged(claims, capabilities: clientCapabilities)
        extras.resources = resources
        return extras
    }
}

extension RedirectDestination {
    fileprivate var uri: String { if case .elsewhere(let uri) = self { uri } else { "" } }
}

extension Result<AcquiredToken, BrokerError> {
    /// What the person reads at the end.
    fileprivate func page(for app: AppRegistration) -> RedirectPage {
        switch self {
        case .success(let token): .signedIn(username: token.account.username, app: app.name)
        case .failure(let error) where error.kind == .userCanceled: .canceled(app: app.name)
        case .failure(let error): .failed(app: app.name, message: error.message)
        }
    }
}
