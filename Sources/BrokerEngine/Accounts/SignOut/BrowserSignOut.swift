import BrokerModel
import BrokerValues

/// Ends the browser's session at the provider (OpenID Connect RP-Initiated Logout 1.0): without it the next sign-in might
/// ask for no password.
struct BrowserSignOut: Sendable {
    let services: EngineServices
    let request: SignOutRequest
    /// Whose client asks, and whose redirect URI is the way back.
    let app: AppRegistration
    /// The app's, in the account's cloud.
    let authority: Authority
    let idToken: Secret?
    let username: String

    func run(onOpen: @Sendable (InteractionOpening) -> Void) async -> SignOutStages.Outcome {
        do throws(BrokerError) {
            let session = BrowserSignOutSession(
                id: Base64URL.encode(services.random.bytes(16)), partition: request.partition,
                state: Base64URL.encode(services.random.bytes(32)), appName: app.name)
            let destination = try RedirectDestination.parse(app.redirectURI)
            let endpoint = try await listen(at: destination, for: session)
            let outcome = await wait(for: session, at: endpoint?.redirectURI ?? destination.elsewhereURI, onOpen)
            services.interactions.remove(session)
            await endpoint?.close()
            return outcome
        } catch {
            return .failed(error.message)
        }
    }

    private func wait(
        for session: BrowserSignOutSession, at redirectURI: String,
        _ onOpen: @Sendable (InteractionOpening) -> Void
    ) async -> SignOutStages.Outcome {
        do throws(BrokerError) {
            let url = try await page(session, redirectURI)
            services.interactions.add(session)
            try await show(url, session, redirectURI, onOpen)
        } catch {
            return .failed(error.message)
        }
        let (clock, timeout) = (services.clock, request.timeout)
        let timer = Task {
            try await clock.sleep(for: .seconds(timeout))
            session.end(
                BrokerError(
                    .timedOut, "the browser did not come back within \(timeout.inSeconds); it may be signed in still."))
        }
        defer { timer.cancel() }
        guard let end = await session.ending() else { return .done }
        // A person who closed the page is done (MSAL); whether the session is over, only they know.
        return end.kind == .userCanceled ? .done : .failed(end.message)
    }

    private func page(
        _ session: BrowserSignOutSession, _ redirectURI: String
    ) async throws(BrokerError) -> String {
        var asked = EndSessionRequest(clientID: app.clientID)
        asked.idTokenHint = idToken
        asked.logoutHint = username
        asked.postLogoutRedirectURI = redirectURI
        asked.state = session.state
        do throws(ProviderError) {
            let metadata = try await services.provider.metadata(of: authority)
            if let url = services.provider.endSessionURL(asked, at: metadata) { return url }
        } catch {
            throw ProviderErrors.brokerError(error, at: authority)
        }
        throw BrokerError(.unsupported, "the provider offers no page that ends the browser's session.")
    }

    private func show(
        _ url: String, _ session: BrowserSignOutSession, _ redirectURI: String,
        _ onOpen: @Sendable (InteractionOpening) -> Void
    ) async throws(BrokerError) {
        guard request.presentation == .broker else {
            return onOpen(
                InteractionOpening(
                    interactionID: session.id, url: url, redirectURI: redirectURI,
                    expiresOn: services.clock.now + request.timeout, correlationID: request.correlationID))
        }
        do throws(BrowserError) {
            try await services.browser.open(url)
        } catch {
            throw BrokerError(.unsupported, "the broker could not open a browser (\(error.message)).", cause: error)
        }
    }

    private func listen(
        at destination: RedirectDestination, for session: BrowserSignOutSession
    ) async throws(BrokerError) -> (any RedirectEndpoint)? {
        guard case .loopback(let target) = destination else { return nil }
        do throws(RedirectError) {
            return try await services.redirects.open(target) { await session.browserReturned(with: $0) }
        } catch {
            switch error {
            case .portInUse(let port):
                throw BrokerError(
                    .invalidParameter, "port \(port) of the redirect URI is in use by another program.", cause: error)
            case .cannotListen(let why): throw BrokerError(.internal, why, cause: error)
            }
        }
    }
}

/// One end of a browser's session that is waited for.
final class BrowserSignOutSession: WaitingInteraction {
    let id: String
    let partition: Partition
    let state: String
    private let appName: String
    /// Nil when the browser came back.
    private let end = Promise<BrokerError?>()

    init(id: String, partition: Partition, state: String, appName: String) {
        self.id = id
        self.partition = partition
        self.state = state
        self.appName = appName
    }

    func browserReturned(with redirect: RedirectParameters) async -> RedirectPage {
        take(redirect) ? .signedOut(app: appName) : .notExpected
    }

    func take(_ redirect: RedirectParameters) -> Bool {
        guard redirect.repeated.isEmpty, let given = redirect["state"], Secret(given) == Secret(state) else {
            return false
        }
        return end.fulfil(nil)
    }

    @discardableResult
    func end(_ error: BrokerError) -> Bool { end.fulfil(error) }

    func ending() async -> BrokerError? {
        await withTaskCancellationHandler {
            await end.value
        } onCancel: {
            end(BrokerError(.userCanceled, "The sign-out was ended because the app went away."))
        }
    }
}

extension RedirectDestination {
    fileprivate var elsewhereURI: String { if case .elsewhere(let uri) = self { uri } else { "" } }
}
