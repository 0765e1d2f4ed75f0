import BrokerModel
import BrokerValues
import Logging
import Synchronization

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
    let startedAt: NumericDate

    /// One question to the provider, and what its answer is held against.
    private struct Attempt {
        let metadata: ProviderMetadata
        /// What the tokens shall be bound to.
        let proofKey: ProofKey?
        /// What tokens shall be good for, as the provider is asked.
        let scopes: Scopes
        /// Without what the broker adds.
        let asked: Scopes
        let verifier: Secret
        let authorization: AuthorizationRequest
    }

    /// The question that is open. A provider that refuses `offline_access` is asked once more.
    private final class OpenAttempt: Sendable {
        private let state: Mutex<(current: Attempt, refused: BrokerError?)>
        init(_ attempt: Attempt) { state = Mutex((attempt, nil)) }

        var current: Attempt { state.withLock { $0.current } }
        /// Why it was asked once more.
        var refused: BrokerError? { state.withLock { $0.refused } }

        /// - Returns: nil where it was asked twice.
        func again(after error: BrokerError, _ make: (Attempt) -> Attempt) -> Attempt? {
            state.withLock { state in
                guard state.refused == nil else { return nil }
                state = (make(state.current), error)
                return state.current
            }
        }
    }

    func run() async {
        var window: BrowserWindow?
        var open: OpenAttempt?
        let outcome: SignInFlight.Outcome
        do throws(BrokerError) {
            let metadata = try await metadata(of: authority)
            // Nobody is sent to a sign-in whose code would then go nowhere.
            try CloudRules.check(metadata, for: request.app)
            let proofKey = try proofKey(at: metadata)
            let scopes = request.scopes.union(try scopesThatWouldBeLost())
            let redirectURI = try IssuerRedirect.uri(
                asked: request.interaction.redirectURI, of: request.app, at: metadata)
            let destination = try RedirectDestination.parse(redirectURI)
            let asksForForm =
                destination.isListenedAt && metadata.offersFormPost && services.settings().asksForForms
            let opened = try await BrowserWindow(
                backTo: destination, registeredAs: redirectURI, takesForm: asksForForm, for: flight.interaction,
                services)
            window = opened
            let takesConsent = try services.refreshTokenTakesConsent(client)
            // Who asks for consent asks for everything anew.
            let refusesOffline = prompt == .consent ? false : try services.refusesOfflineAccess(client)
            let question = OpenAttempt(
                attempt(
                    at: metadata, proofKey, asking: scopes, redirectURI: opened.redirectURI, asksForForm: asksForForm,
                    asksConsent: OfflineConsent.isAsked(with: prompt, takesConsent: takesConsent),
                    withoutOfflineAccess: refusesOffline))
            open = question
            expectRedirect(of: question)
            let url = try await authorizationURL(of: question)
            let asker = try await present(url, in: opened)
            services.tellOfInteraction(
                .opened, flight.interaction.id, from: asker, for: request.app, in: request.partition)
            let code = try await flight.interaction.answer()
            outcome = .success(try await redeem(code, of: question.current))
            if let first = question.refused {
                await services.learnOfOfflineAccess(from: first, to: ScopeRules.offlineAccess, of: client)
            }
        } catch {
            if let scopes = open?.current.authorization.scopes {
                await services.learnOfOfflineAccess(from: error, to: scopes, of: client)
            }
            outcome = .failure(error)
        }
        flight.interaction.show(outcome.page(for: request))
        services.interactions.remove(flight)
        await window?.close()
        services.tellOfInteraction(outcome, flight.interaction.id, for: request.app, in: request.partition)
        flight.finish(outcome)
    }

    private func metadata(of authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        try await services.asking(authority) { () throws(ProviderError) in
            try await services.provider.metadata(of: authority)
        }
    }

    private var client: CacheIndex.ClientKey {
        CacheIndex.ClientKey(of: request.app, at: authority, in: request.partition)
    }

    // MARK: The question

    private func attempt(
        at metadata: ProviderMetadata, _ proofKey: ProofKey?, asking scopes: Scopes, redirectURI: String,
        asksForForm: Bool, asksConsent: Bool, withoutOfflineAccess: Bool
    ) -> Attempt {
        let pkce = PKCE(random: services.random)
        var authorization = AuthorizationRequest(
            clientID: request.app.clientID, redirectURI: redirectURI,
            scopes: ScopeRules.toAuthorize(
                scopes, extra: request.extraScopesToConsent, at: metadata,
                setting: request.app.description.offlineAccess, withoutOfflineAccess: withoutOfflineAccess),
            state: Base64URL.encode(services.random.bytes(32)), nonce: Base64URL.encode(services.random.bytes(16)),
            codeChallenge: pkce.challenge, correlationID: request.correlationID)
        authorization.prompt = prompt
        authorization.asksForForm = asksForForm
        authorization.asksConsent = asksConsent
        authorization.loginHint = account?.account.username ?? request.loginHint
        authorization.idTokenHint = idTokenHint()
        authorization.domainHint = request.domainHint
        authorization.asksClientInfo = request.target.rules.asksClientInfo
        authorization.isInstanceAware = !otherClouds.isEmpty
        authorization.claims = ClaimsRule.merged(request.claims, capabilities: request.clientCapabilities)
        authorization.maxAge = request.maxAge
        authorization.acrValues = request.acrValues
        authorization.proofKeyThumbprint = proofKey?.thumbprint
        authorization.resources = request.resources
        authorization.extraQueryParameters = request.extraQueryParameters
        authorization.registeredParameters = request.app.query ?? [:]
        return Attempt(
            metadata: metadata, proofKey: proofKey,
            scopes: ScopeRules.toAuthorize(
                scopes, extra: Scopes([]), at: metadata, setting: request.app.description.offlineAccess,
                withoutOfflineAccess: withoutOfflineAccess),
            asked: scopes, verifier: pkce.verifier, authorization: authorization)
    }

    /// Of the account that must sign in, if it has one.
    private func proofKey(at metadata: ProviderMetadata) throws(BrokerError) -> ProofKey? {
        var tokens: CachedTokens?
        let binds = request.app.bindsRefreshToken(at: metadata)
        if request.tokenType == .dpop || binds, let account {
            tokens = try services.tokens(of: .init(of: account.stored.record, for: request.app, in: request.partition))
        }
        return try ProofKeys(services: services).key(
            for: request.tokenType, binds: binds, of: tokens, at: metadata)
    }

    /// At a provider that narrows grants, what was granted before and a sign-in for less would lose (decision 6). Whose grant
    /// it was is not known where nobody in particular has to sign in: then it is everybody's.
    private func scopesThatWouldBeLost() throws(BrokerError) -> Scopes {
        guard !authority.rules.grantsFollowConsent, request.resources.isEmpty else { return Scopes([]) }
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        let people = person.map { [$0] } ?? known.entries
        var scopes = Scopes([])
        for entry in people where entry.fits(authority, []) {
            let tokens = try services.tokens(
                of: .init(of: entry.stored.record, for: request.app, in: request.partition))
            for token in tokens.refreshTokens where token.record.grantNarrows == true {
                scopes = scopes.union(ScopeRules.grantedByName(Scopes(token.record.scopes)))
            }
        }
        return scopes.subtracting(Scopes.reserved)
    }

    /// Providers may refuse `prompt=none` without one. It can get into the browser's arguments and history, so that is all
    /// it is sent for. One provider's token is none of another's business.
    ///
    /// - Returns: nil also when the saved one cannot be read: the sign-in is not to fail for the sake of a hint.
    private func idTokenHint() -> Secret? {
        guard prompt == Prompt.none, authority.rules.takesIDTokenHint, let record = person?.stored.record,
            record.environment == authority.environment, record.realm == authority.path
        else { return nil }
        let owner = CacheIndex.OwnerKey(of: record, for: request.app, in: request.partition)
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

    /// The URL for the browser. The request is handed in beforehand (RFC 9126) where the provider demands it or the app
    /// asks for it: then the URL names nothing but the client and where the request lies. A request with an ID token is
    /// handed in wherever that is possible: other users can read a browser's arguments, and the token says who the
    /// person is.
    private func authorizationURL(of open: OpenAttempt) async throws(BrokerError) -> String {
        do throws(BrokerError) {
            return try await authorizationURL(of: open.current)
        } catch {
            guard let next = again(open, after: error) else { throw error }
            return try await authorizationURL(of: next)
        }
    }

    /// - Returns: nil unless it was refused for `offline_access`, as far as can be told.
    private func again(_ open: OpenAttempt, after error: BrokerError) -> Attempt? {
        guard request.app.description.offlineAccess == nil,
            OfflineRefusal.isPossible(error, to: open.current.authorization.scopes)
        else { return nil }
        return open.again(after: error) { first in
            attempt(
                at: first.metadata, first.proofKey, asking: first.asked,
                redirectURI: first.authorization.redirectURI, asksForForm: first.authorization.asksForForm,
                asksConsent: first.authorization.asksConsent,
                withoutOfflineAccess: true)
        }
    }

    private func authorizationURL(of attempt: Attempt) async throws(BrokerError) -> String {
        let (metadata, authorization) = (attempt.metadata, attempt.authorization)
        let isDemanded = isPushed(at: metadata)
        guard isDemanded || authorization.hasIDToken && metadata.pushedAuthorizationRequestEndpoint != nil else {
            return services.provider.authorizationURL(authorization, at: metadata)
        }
        do throws(ProviderError) {
            let pushed = try await services.provider.push(
                authorization, as: request.app.credentials(at: authority), at: metadata)
            return services.provider.authorizationURL(of: pushed, as: request.app.clientID, at: metadata)
        } catch {
            guard !isDemanded else { throw ProviderErrors.brokerError(error, at: authority) }
            services.log.notice(
                "the provider did not take the request beforehand; it goes into the URL, without the saved ID token",
                metadata: ["correlation_id": "\(request.correlationID)", "cause": services.quoted(error)])
            var plain = authorization
            plain.idTokenHint = nil
            return services.provider.authorizationURL(plain, at: metadata)
        }
    }

    /// One of those who wait opens the window, in the way it asked for; the others are told that there is one.
    ///
    /// - Returns: who asked for it from another machine, where one did.
    private func present(_ url: String, in window: BrowserWindow) async throws(BrokerError) -> String? {
        guard let opener = flight.present() else { return nil }
        try await window.open(
            InteractionOpening(
                interactionID: flight.interaction.id, url: url, redirectURI: window.redirectURI,
                expiresOn: opener.expiresOn, correlationID: opener.correlationID),
            by: opener.presentation, opener.onOpen)
        guard let asker = opener.elsewhere, opener.presentation == .broker else { return nil }
        // Its person looks at that machine's screen, and for nothing there.
        flight.tell(opener)
        services.log.notice(
            "a sign-in page was opened for a program on another machine",
            metadata: [
                "caller": "\(asker)", "app": "\(request.app.name)", "correlation_id": "\(opener.correlationID)",
            ])
        return asker
    }

    // MARK: The answer

    private func expectRedirect(of open: OpenAttempt) {
        let (log, correlationID) = (services.log, request.correlationID)
        flight.interaction.expectRedirect { redirect in
            let meaning = RedirectCheck.answer(redirect, to: expectation(of: open.current))
            switch meaning {
            case .unacceptable(let why):
                log.notice(
                    "an answer to a sign-in cannot be accepted; the sign-in goes on waiting",
                    metadata: ["correlation_id": "\(correlationID)", "cause": "\(why)"])
            // The next sign-in asks without it where the second question could not go into a URL, or no browser waits for one.
            case .answer(.failure(let error)) where mayAskAgain(open.current, after: redirect):
                guard let next = again(open, after: error) else { break }
                log.notice(
                    "the provider refuses offline_access; the sign-in goes on without it",
                    metadata: ["correlation_id": "\(correlationID)"])
                return .askAgain(url: services.provider.authorizationURL(next.authorization, at: next.metadata))
            default: break
            }
            return meaning
        }
    }

    private func mayAskAgain(_ attempt: Attempt, after redirect: RedirectParameters) -> Bool {
        !redirect.isHandedIn && !isPushed(at: attempt.metadata) && !attempt.authorization.hasIDToken
    }

    private func isPushed(at metadata: ProviderMetadata) -> Bool {
        metadata.requiresPushedAuthorization || request.pushesAuthorization
    }

    private func expectation(of attempt: Attempt) -> RedirectCheck.Expectation {
        var expectation = RedirectCheck.Expectation(
            state: attempt.authorization.state, issuer: attempt.metadata.issuer,
            requiresIssuer: attempt.metadata.promisesIssuerInResponse)
        expectation.redirectURI = attempt.authorization.redirectURI
        if attempt.metadata.authority.rules.hasClouds {
            expectation.clouds = CloudExpectation(authority: attempt.metadata.authority, others: otherClouds)
        }
        return expectation
    }

    private func redeem(
        _ code: RedirectCheck.AuthorizationCode, of attempt: Attempt
    ) async throws(BrokerError) -> AcquiredToken {
        let place = code.cloud ?? authority
        let metadata = try await metadata(for: code, of: attempt)
        var extras = request.extras
        extras.proofKey = attempt.proofKey
        let response: TokenResponse
        do throws(ProviderError) {
            response = try await services.provider.redeem(
                .authorizationCode(
                    code.code, verifier: attempt.verifier, redirectURI: attempt.authorization.redirectURI),
                with: extras, as: request.app.credentials(at: place), at: metadata)
        } catch {
            if case .unusableTokens(let rest) = error {
                services.revoke(DiscardedTokens(rest), of: request.app, at: metadata)
            }
            throw ProviderErrors.brokerError(error, at: place)
        }
        let authorization = attempt.authorization
        let lesson = OfflineConsent.learnt(
            from: response, to: authorization.scopes, isAsked: authorization.asksConsent, prompt: prompt,
            known: try services.refreshTokenTakesConsent(client), at: metadata)
        if let lesson { await services.note(of: client) { $0.refreshTokenTakesConsent = lesson } }
        let grants = TokenResponseStore(
            services: services, app: request.app, partition: request.partition, resources: request.resources,
            tokenType: request.tokenType)
        return try await grants.keepSignedIn(
            response, asked: request.scopes, sent: attempt.scopes, nonce: attempt.authorization.nonce,
            requirements: requirements, at: place, metadata: metadata, proofKey: attempt.proofKey)
    }

    /// Of who will be given the code: asked of a host that was looked up among the known clouds, never of one that only the
    /// redirect knows.
    private func metadata(
        for code: RedirectCheck.AuthorizationCode, of attempt: Attempt
    ) async throws(BrokerError) -> ProviderMetadata {
        guard let cloud = code.cloud else { return attempt.metadata }
        let metadata = try await metadata(of: cloud)
        try CloudRules.check(metadata, issuer: code.issuer)
        return metadata
    }

    private var requirements: SignInRequirements {
        var requirements = SignInRequirements()
        requirements.account = account.map(SignInRequirements.Person.init)
        if request.isHintBinding { requirements.username = request.loginHint }
        requirements.maxAge = request.maxAge
        requirements.startedAt = startedAt
        requirements.contexts = ClaimsRule.essentialContexts(in: request.claims)
        return requirements
    }
}

extension AuthorizationRequest {
    /// The broker's, or one that the app brought along.
    fileprivate var hasIDToken: Bool {
        idTokenHint != nil || extraQueryParameters.keys.contains { $0.lowercased() == "id_token_hint" }
    }
}

extension SignInFlight.Outcome {
    /// What the person reads at the end.
    fileprivate func page(for request: InteractiveRequest) -> RedirectPage {
        let app = request.app.name
        switch self {
        case .success(let token): return .signedIn(username: token.account.username, app: app)
        case .failure(let error) where error.kind == .userCanceled:
            return .canceled(app: app, said: error.details.description == nil ? nil : error.details.providersWords)
        case .failure(let error):
            return .failed(
                app: app, message: error.message, said: error.details.providersWords,
                correlationID: error.details.correlationID ?? request.correlationID)
        }
    }
}
