import BrokerModel
import BrokerValues

/// Ends the browser's session at the provider (OpenID Connect RP-Initiated Logout 1.0): otherwise the next sign-in might not ask
/// for a password.
struct BrowserSignOut: Sendable {
    let services: EngineServices
    let request: SignOutRequest
    /// Its client makes the request, and the browser returns to its redirect URI.
    let app: AppRegistration
    /// The app's authority in the account's cloud.
    let authority: Authority
    let idToken: Secret?
    let username: String

    func run(onOpen: @Sendable (InteractionOpening) -> Void) async -> SignOutStages.Outcome {
        do throws(BrokerError) {
            let interaction = Interaction<Void>(
                for: app, of: request.claimant, in: request.partition, services)
            try services.interactions.add(interaction)
            defer { services.interactions.remove(interaction) }
            let state = Base64URL.encode(services.random.bytes(32))
            interaction.show(.signedOut(app: app.name))
            interaction.expectRedirect { Self.isAnswer($0, to: state) ? .answer(.success(())) : .foreign }
            let window = try await BrowserWindow(
                backTo: try .parse(app.redirectURI), for: interaction, services)
            let outcome = await wait(for: interaction, state, in: window, onOpen)
            await window.close()
            return outcome
        } catch {
            return .failed(error.message)
        }
    }

    private static func isAnswer(_ redirect: RedirectParameters, to state: String) -> Bool {
        guard redirect.repeated.isEmpty, let given = redirect["state"] else { return false }
        return Secret(given) == Secret(state)
    }

    private func wait(
        for interaction: Interaction<Void>, _ state: String, in window: BrowserWindow,
        _ onOpen: @Sendable (InteractionOpening) -> Void
    ) async -> SignOutStages.Outcome {
        do throws(BrokerError) {
            let url = try await page(state, window.redirectURI)
            try await window.open(
                InteractionOpening(
                    interactionID: interaction.id, url: url, redirectURI: window.redirectURI,
                    expiresOn: services.clock.now + request.timeout, correlationID: request.correlationID),
                by: request.presentation, onOpen)
        } catch {
            return .failed(error.message)
        }
        let (clock, timeout) = (services.clock, request.timeout)
        let timer = Task {
            try await clock.sleep(for: .seconds(timeout))
            interaction.end(
                BrokerError(
                    .timedOut, "the browser did not come back within \(timeout.inSeconds); it may be signed in still."))
        }
        defer { timer.cancel() }
        do throws(BrokerError) {
            try await interaction.answer()
            return .done
        } catch {
            // A person who closed the page is done (MSAL); only they know whether the session is over.
            return error.kind == .userCanceled ? .done : .failed(error.message)
        }
    }

    private func page(_ state: String, _ redirectURI: String) async throws(BrokerError) -> String {
        var asked = EndSessionRequest(clientID: app.clientID)
        asked.idTokenHint = idToken
        asked.logoutHint = username
        asked.postLogoutRedirectURI = redirectURI
        asked.state = state
        asked.parameters = request.extraQueryParameters
        let metadata = try await services.asking(authority) { () throws(ProviderError) in
            try await services.provider.metadata(of: authority)
        }
        guard let url = services.provider.endSessionURL(asked, at: metadata) else {
            throw BrokerError(.unsupported, "the provider offers no page that ends the browser's session.")
        }
        return url
    }
}
