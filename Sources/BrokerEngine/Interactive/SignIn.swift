import BrokerModel
import BrokerValues

/// The work of one flight: authorization code with PKCE through the person's browser (RFC 6749, section 4.1; RFC 7636;
/// RFC 8252).
struct SignIn: Sendable {
    let services: EngineServices
    let flight: SignInFlight
    /// Of whoever came first; those who joined ask the same.
    let request: InteractiveRequest
    /// Where the person is sent.
    let authority: Authority
    /// Where they may turn out to be at home instead.
    let otherClouds: Set<String>
    let prompt: Prompt?
    /// Who must sign in.
    let account: KnownAccounts.Entry?
    /// Who is expected to: the account, or whom the hint names.
    let person: KnownAccounts.Entry?
    let destination: RedirectDestination
    let startedAt: NumericDate

    func run() async {
        var endpoint: (any RedirectEndpoint)?
        let outcome: SignInFlight.Outcome
        do throws(BrokerError) {
            let metadata = try await metadata(of: authority)
            // Nobody is sent to a sign-in whose code would then go nowhere.
            try CloudRules.check(metadata, for: request.app)
            let attempt = SignInAttempt(
                metadata: metadata, proofKey: try proofKey(at: metadata), otherClouds: otherClouds,
                random: services.random)
            let scopes = request.scopes.union(try scopesAtStake())
            endpoint = try await listen()
            flight.session.expect(attempt.expectation)
            let redirectURI = endpoint?.redirectURI ?? destination.uri
            var authorization = attempt.authorization(
                request, scopes: scopes, prompt: prompt, account: account, redirectURI: redirectURI)
            authorization.idTokenHint = idTokenHint()
            let url = try await authorizationURL(of: authorization, at: attempt.metadata)
            try await present(url, redirectURI: redirectURI)
            services.tellOfInteraction(.opened, flight.session.id, for: request.app, in: request.partition)
            let code = try await flight.session.code()
            outcome = .success(try await redeem(code, of: attempt, asking: scopes, redirectURI: redirectURI))
        } catch {
            outcome = .failure(error)
        }
        flight.session.show(outcome.page(for: request.app))
        services.interactions.remove(flight)
        await endpoint?.close()
        services.tellOfInteraction(outcome, flight.session.id, for: request.app, in: request.partition)
        flight.finish(outcome)
    }

    private func metadata(of authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        do throws(ProviderError) {
            return try await services.provider.metadata(of: authority)
        } catch {
            throw ProviderErrors.brokerError(error, at: authority)
        }
    }

    /// Of who will be given the code: asked of a host that was looked up among the known clouds, never of one that only the
    /// redirect knows.
    private func metadata(
        for code: RedirectCheck.AuthorizationCode, of attempt: SignInAttempt
    ) async throws(BrokerError) -> ProviderMetadata {
        guard let cloud = code.cloud else { return attempt.metadata }
        let metadata = try await metadata(of: cloud)
        try CloudRules.check(metadata, issuer: code.issuer)
        return metadata
    }

    /// Of the account that must sign in, if it has one.
    private func proofKey(at metadata: ProviderMetadata) throws(BrokerError) -> ProofKey? {
        var tokens: CachedTokens?
        if request.tokenType == .dpop, let account {
            let owner = TokenOwner(of: account.stored.record, for: request.app)
            tokens = try services.tokens(of: .init(partition: request.partition, owner: owner))
        }
        return try ProofKeys(services: services).key(for: request.tokenType, of: tokens, at: metadata)
    }

    /// At a provider that narrows grants, what was granted before and a sign-in for less would lose (decision 6). Whose grant
    /// it was is not known where nobody in particular has to sign in: then it is everybody's.
    private func scopesAtStake() throws(BrokerError) -> Scopes {
        guard !authority.kind.isEntraFamily, request.resources.isEmpty else { return Scopes([]) }
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        let people = person.map { [$0] } ?? known.entries
        var scopes = Scopes([])
        for entry in people where entry.fits(authority, []) {
            let owner = TokenOwner(of: entry.stored.record, for: request.app)
            let tokens = try services.tokens(of: .init(partition: request.partition, owner: owner))
            for token in tokens.refreshTokens where token.record.grantNarrows == true {
                scopes = scopes.union(ScopeRules.grantedByName(Scopes(token.record.scopes)))
            }
        }
        return scopes.subtracting(Scopes.reserved)
    }

    /// Providers may refuse `prompt=none` without one. It can get into the browser's arguments and history, so that is all
    /// it is sent for; Entra goes by the login hint. One provider's token is none of another's business.
    ///
    /// - Returns: nil also when the saved one cannot be read: the sign-in is not to fail for the sake of a hint.
    private func idTokenHint() -> Secret? {
        guard prompt == Prompt.none, !authority.kind.isEntraFamily, let record = person?.stored.record,
            record.environment == authority.environment, record.realm == authority.path
        else { return nil }
        let owner = CacheIndex.OwnerKey(
            partition: request.partition, owner: TokenOwner(of: record, for: request.app))
        do throws(VaultError) {
            let tokens = try services.index.loadTokens(of: owner)
            return try tokens.idTokens[record.realm].map { idToken throws(VaultError) in
                try services.vault.secret(of: idToken)
            }
        } catch {
            services.log.warning(
                "the saved ID token could not be read; the sign-in goes on without that hint",
                metadata: ["correlation_id": "\(request.correlationID)", "cause": "\(error)"])
            return nil
        }
    }

    private func listen() async throws(BrokerError) -> (any RedirectEndpoint)? {
        guard case .loopback(let target) = destination else { return nil }
        let session = flight.session
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

    /// One of those who wait opens the window, in the way it asked for; the others are told that there is one.
    private func present(_ url: String, redirectURI: String) async throws(BrokerError) {
        let (opener, others) = flight.present()
        for waiter in others { waiter.joined(flight.session) }
        guard let opener else { return }
        guard opener.presentation == .broker else {
            return opener.onOpen(
                InteractionOpening(
                    interactionID: flight.session.id, url: url, redirectURI: redirectURI, expiresOn: opener.expiresOn,
                    correlationID: opener.correlationID))
        }
        do throws(BrowserError) {
            try await services.browser.open(url)
        } catch {
            throw BrokerError(
                .unsupported, "The broker could not open a browser (\(error.message)); let the client open it.",
                cause: error)
        }
    }

    private func redeem(
        _ code: RedirectCheck.AuthorizationCode, of attempt: SignInAttempt, asking scopes: Scopes, redirectURI: String
    ) async throws(BrokerError) -> AcquiredToken {
        let place = code.cloud ?? authority
        let metadata = try await metadata(for: code, of: attempt)
        var extras = request.extras
        extras.proofKey = attempt.proofKey
        let response: TokenResponse
        do throws(ProviderError) {
            response = try await services.provider.redeem(
                .authorizationCode(code.code, verifier: attempt.verifier, redirectURI: redirectURI),
                with: extras, as: request.app.credentials(at: place), at: metadata)
        } catch {
            throw ProviderErrors.brokerError(error, at: place)
        }
        let grants = GrantStore(
            services: services, app: request.app, partition: request.partition, resources: request.resources)
        return try await grants.keepSignedIn(
            response, asked: request.scopes, sent: ScopeRules.toAuthorize(scopes, extra: Scopes([])),
            nonce: attempt.nonce, requirements: requirements, at: place, metadata: metadata,
            proofKey: attempt.proofKey)
    }

    private var requirements: SignInRequirements {
        var requirements = SignInRequirements()
        requirements.account = account.map {
            SignInRequirements.Person(
                homeAccountID: $0.stored.record.homeAccountID, environment: $0.stored.record.environment,
                username: $0.account.username)
        }
        if request.isHintBinding { requirements.username = request.loginHint }
        requirements.maxAge = request.maxAge
        requirements.startedAt = startedAt
        return requirements
    }
}

extension RedirectDestination {
    fileprivate var uri: String { if case .elsewhere(let uri) = self { uri } else { "" } }
}

extension SignInFlight.Outcome {
    /// What the person reads at the end.
    fileprivate func page(for app: AppRegistration) -> RedirectPage {
        switch self {
        case .success(let token): .signedIn(username: token.account.username, app: app.name)
        case .failure(let error) where error.kind == .userCanceled: .canceled(app: app.name)
        case .failure(let error): .failed(app: app.name, message: error.message)
        }
    }
}
