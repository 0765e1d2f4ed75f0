import BrokerModel
import BrokerValues

/// Ends the browser's session at the provider (OpenID Connect RP-Initiated Logout 1.0): otherwise the next sign-in might not ask
/// for a password.
struct BrowserSignOut: Sendable {
    let interactions: InteractionRegistry
    let windows: BrowserWindows
    let provider: any IdentityProvider
    let random: any RandomSource
    let clock: any BrokerClock

    /// One page to be opened.
    struct Order: Sendable {
        let request: SignOutRequest
        /// The app whose client makes the request, and to whose redirect URI the browser returns.
        let app: AppRegistration
        /// The app's authority in the account's cloud.
        let authority: Authority
        let idToken: Secret?
        let username: String
    }

    func run(
        _ order: Order, onOpen: @Sendable (InteractionOpening) -> Void
    ) async -> SignOutStages.Outcome {
        let (request, app) = (order.request, order.app)
        do throws(BrokerError) {
            let interaction: Interaction<Void> = interactions.interaction(
                for: app, of: request.claimant, isOutside: request.isOutside, in: request.partition)
            try interactions.add(interaction)
            defer { interactions.remove(interaction) }
            let state = Base64URL.encode(random.bytes(32))
            interaction.show(.signedOut(app: app.name))
            interaction.expectRedirect { Self.isAnswer($0, to: state) ? .answer(.success(())) : .foreign }
            let window = try await BrowserWindow(
                backTo: try .parse(app.redirectURI), for: interaction, windows)
            let outcome = await wait(order, for: interaction, state, in: window, onOpen)
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
        _ order: Order, for interaction: Interaction<Void>, _ state: String, in window: BrowserWindow,
        _ onOpen: @Sendable (InteractionOpening) -> Void
    ) async -> SignOutStages.Outcome {
        let (request, redirectURI) = (order.request, window.redirectURI)
        let timeout = request.timeout
        let expiresOn = clock.now + timeout
        let timer = Task { [clock] in
            try await clock.sleep(for: .seconds(timeout))
            interaction.end(
                BrokerError(
                    .timedOut, "the browser was not signed out within \(timeout.inSeconds); it may be signed in still.")
            )
        }
        defer { timer.cancel() }
        do throws(BrokerError) {
            let url = try await interaction.preparing { [self] () throws(BrokerError) in
                try await page(order, state, redirectURI)
            }
            // Otherwise it has ended since then, and below is why.
            if interaction.isOpen {
                try await window.open(
                    InteractionOpening(
                        interactionID: interaction.id, url: url, redirectURI: redirectURI, expiresOn: expiresOn,
                        correlationID: request.correlationID),
                    by: request.presentation, onOpen)
            }
        } catch {
            return .failed(
                error.kind == .userCanceled ? "it was canceled before the browser's page opened." : error.message)
        }
        do throws(BrokerError) {
            try await interaction.answer()
            return .done
        } catch {
            // A person who closed the page is done (MSAL); only they know whether the session is over.
            return error.kind == .userCanceled ? .done : .failed(error.message)
        }
    }

    private func page(_ order: Order, _ state: String, _ redirectURI: String) async throws(BrokerError) -> String {
        var asked = EndSessionRequest(clientID: order.app.clientID)
        asked.idTokenHint = order.idToken
        asked.logoutHint = order.username
        asked.postLogoutRedirectURI = redirectURI
        asked.state = state
        asked.parameters = order.request.extraQueryParameters
        let metadata = try await provider.metadata(for: order.authority)
        guard let url = provider.endSessionURL(asked, at: metadata) else {
            throw BrokerError(.unsupported, "the provider offers no page that ends the browser's session.")
        }
        return url
    }
}
