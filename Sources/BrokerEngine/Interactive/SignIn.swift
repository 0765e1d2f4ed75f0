import BrokerModel
import BrokerValues
import Logging

/// The work of one flight: authorization code with PKCE through the person's browser (RFC 6749, section 4.1; RFC 7636;
/// RFC 8252).
final class SignIn: Sendable {
    private let questions: AuthorizationQuestions
    private let redemption: CodeRedemption
    private let interactions: InteractionRegistry
    private let windows: BrowserWindows
    private let provider: any IdentityProvider
    private let clients: ClientKnowledge
    private let refusals = UnrepeatedRefusals()
    private let settings: SettingsBox
    private let log: Logger

    init(
        questions: AuthorizationQuestions, redemption: CodeRedemption, interactions: InteractionRegistry,
        windows: BrowserWindows, provider: any IdentityProvider, clients: ClientKnowledge,
        settings: SettingsBox, log: Logger
    ) {
        (self.questions, self.redemption, self.interactions) = (questions, redemption, interactions)
        (self.windows, self.provider, self.clients) = (windows, provider, clients)
        (self.settings, self.log) = (settings, log)
    }

    func run(_ plan: SignInPlan, in flight: SignInFlight) async {
        let request = plan.request
        var window: BrowserWindow?
        var open: OpenAttempt?
        let outcome: SignInFlight.Outcome
        do throws(BrokerError) {
            let metadata = try await flight.interaction.preparing { [provider] () throws(BrokerError) in
                try await provider.metadata(for: plan.authority)
            }
            // Nobody is sent to a sign-in whose code would then go nowhere.
            try CloudRules.check(metadata, for: request.app)
            let proofKey = try questions.proofKey(for: plan, at: metadata)
            let scopes = request.scopes.union(try questions.scopesThatWouldBeLost(by: plan))
            let redirectURI = try IssuerRedirect.uri(
                asked: request.interaction.redirectURI, of: request.app, at: metadata)
            let destination = try RedirectDestination.parse(redirectURI)
            let asksForForm =
                destination.isListenedAt && metadata.offersFormPost && settings.value.asksForForms
            let opened = try await BrowserWindow(
                backTo: destination, registeredAs: redirectURI, takesForm: asksForForm, for: flight.interaction,
                windows)
            window = opened
            let takesConsent = try clients.refreshTokenTakesConsent(plan.client)
            let asked = UnrepeatedRefusals.Question(client: plan.client, scopes: scopes)
            // An app's own setting comes first.
            let refused = request.app.description.offlineAccess == nil ? refusals.refusal(of: asked) : nil
            var omitsOffline = refused != nil
            // A request for consent asks for everything anew.
            if !omitsOffline, plan.prompt != .consent { omitsOffline = try clients.refusesOfflineAccess(plan.client) }
            let question = OpenAttempt(
                questions.attempt(
                    for: plan, at: metadata, proofKey, asking: scopes, redirectURI: opened.redirectURI,
                    asksForForm: asksForForm,
                    asksConsent: OfflineConsent.isAsked(with: plan.prompt, takesConsent: takesConsent),
                    withoutOfflineAccess: omitsOffline), after: refused)
            open = question
            expectRedirect(of: question, for: plan, in: flight)
            let url = try await flight.interaction.preparing { [self] () throws(BrokerError) in
                try await authorizationURL(of: question, for: plan, flight.interaction)
            }
            let asker = try await present(url, in: opened, for: request, flight)
            interactions.tell(
                .opened, of: flight.interaction.id, from: asker, for: request.app, in: request.partition)
            let code = try await flight.interaction.answer()
            outcome = .success(
                try await redemption.redeem(
                    code, of: question.current, for: plan, amid: flight.interaction.erasures))
            if let first = question.refused {
                refusals.forget(asked)
                await clients.learnOfOfflineAccess(from: first, to: ScopeRules.offlineAccess, of: plan.client)
            }
        } catch {
            if let open { await learn(from: error, to: open, for: plan) }
            outcome = .failure(error)
        }
        flight.interaction.show(outcome.page(for: request))
        interactions.remove(flight)
        await window?.close()
        interactions.tell(outcome, of: flight.interaction.id, for: request.app, in: request.partition)
        flight.finish(outcome)
    }

    /// Notes what a failed sign-in shows about `offline_access`.
    private func learn(from error: BrokerError, to open: OpenAttempt, for plan: SignInPlan) async {
        let scopes = open.current.authorization.scopes
        let question = UnrepeatedRefusals.Question(client: plan.client, scopes: open.current.asked)
        guard OfflineRefusal.isPossible(error, to: scopes) else {
            if OfflineRefusal.isAboutScopes(error) { refusals.forget(question) }
            return await clients.learnOfOfflineAccess(from: error, to: scopes, of: plan.client)
        }
        // It may as well be about a scope of the app: only a second request shows that.
        guard plan.request.app.description.offlineAccess == nil else { return }
        refusals.keep(error, of: question)
    }

    // MARK: Authorization request

    /// The URL for the browser. The request is pushed (RFC 9126) if the provider demands it or the app asks for it: then the URL
    /// names only the client and the request's URI. A request with an ID token is pushed wherever that is possible: other users can
    /// read a browser's arguments, and the token identifies the person.
    private func authorizationURL(
        of open: OpenAttempt, for plan: SignInPlan, _ interaction: Interaction<RedirectCheck.AuthorizationCode>
    ) async throws(BrokerError) -> String {
        do throws(BrokerError) {
            return try await authorizationURL(of: open.current, for: plan)
        } catch {
            guard interaction.isOpen, let next = questions.again(open, for: plan, after: error) else { throw error }
            return try await authorizationURL(of: next, for: plan)
        }
    }

    private func authorizationURL(
        of attempt: AuthorizationAttempt, for plan: SignInPlan
    ) async throws(BrokerError) -> String {
        let request = plan.request
        let (metadata, authorization) = (attempt.metadata, attempt.authorization)
        let isDemanded = plan.isPushed(at: metadata)
        guard isDemanded || authorization.hasIDToken && metadata.pushedAuthorizationRequestEndpoint != nil else {
            return provider.authorizationURL(authorization, at: metadata)
        }
        do throws(ProviderError) {
            let pushed = try await provider.push(
                authorization, as: request.app.credentials(at: plan.authority), at: metadata)
            return provider.authorizationURL(of: pushed, as: request.app.clientID, at: metadata)
        } catch {
            guard !isDemanded else { throw ProviderErrors.brokerError(error, at: plan.authority) }
            log.notice(
                "the provider refused the pushed request; it is sent in the URL, without the saved ID token",
                metadata: ["correlation_id": "\(request.correlationID)", "cause": settings.quoted(error)])
            var plain = authorization
            plain.idTokenHint = nil
            return provider.authorizationURL(plain, at: metadata)
        }
    }

    /// One of the waiting requests opens the window, in the way it asked for; the others are notified that there is one.
    ///
    /// - Returns: the user who asked for it from another machine, if any.
    private func present(
        _ url: String, in window: BrowserWindow, for request: InteractiveRequest, _ flight: SignInFlight
    ) async throws(BrokerError) -> String? {
        guard let opener = flight.present() else { return nil }
        try await window.open(
            InteractionOpening(
                interactionID: flight.interaction.id, url: url, redirectURI: window.redirectURI,
                expiresOn: opener.expiresOn, correlationID: opener.correlationID),
            by: opener.presentation, opener.onOpen)
        guard let asker = opener.elsewhere, opener.presentation == .broker else { return nil }
        // The caller's person looks at the other machine's screen, where nothing opens.
        flight.tell(opener)
        log.notice(
            "a sign-in page was opened for a program on another machine",
            metadata: [
                "caller": "\(asker)", "app": "\(request.app.name)", "correlation_id": "\(opener.correlationID)",
            ])
        return asker
    }

    // MARK: Redirect

    private func expectRedirect(of open: OpenAttempt, for plan: SignInPlan, in flight: SignInFlight) {
        let correlationID = plan.request.correlationID
        flight.interaction.expectRedirect { [self] redirect in
            let meaning = RedirectCheck.answer(redirect, to: Self.expectation(of: open.current, plan.otherClouds))
            switch meaning {
            case .unacceptable(let why):
                log.notice(
                    "an answer to a sign-in cannot be accepted; the sign-in goes on waiting",
                    metadata: ["correlation_id": "\(correlationID)", "cause": "\(why)"])
            // The next sign-in is the second request if that could not be put into a URL, or no browser waits for one.
            case .answer(.failure(let error)) where Self.mayAskAgain(open.current, of: plan, after: redirect):
                guard let next = questions.again(open, for: plan, after: error) else { break }
                log.notice(
                    "the provider refuses offline_access; the sign-in goes on without it",
                    metadata: ["correlation_id": "\(correlationID)"])
                return .askAgain(url: provider.authorizationURL(next.authorization, at: next.metadata))
            default: break
            }
            return meaning
        }
    }

    private static func mayAskAgain(
        _ attempt: AuthorizationAttempt, of plan: SignInPlan, after redirect: RedirectParameters
    ) -> Bool {
        !redirect.isHandedIn && !plan.isPushed(at: attempt.metadata) && !attempt.authorization.hasIDToken
    }

    private static func expectation(
        of attempt: AuthorizationAttempt, _ otherClouds: Set<String>
    ) -> RedirectCheck.Expectation {
        var expectation = RedirectCheck.Expectation(
            state: attempt.authorization.state, issuer: attempt.metadata.issuer,
            requiresIssuer: attempt.metadata.promisesIssuerInResponse)
        expectation.redirectURI = attempt.authorization.redirectURI
        if attempt.metadata.authority.rules.hasClouds {
            expectation.clouds = CloudExpectation(authority: attempt.metadata.authority, others: otherClouds)
        }
        return expectation
    }
}

extension SignInFlight.Outcome {
    /// The page that the person reads at the end.
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
