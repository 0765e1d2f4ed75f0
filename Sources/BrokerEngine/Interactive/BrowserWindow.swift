import BrokerModel
import BrokerValues

/// A page in the person's browser, and the way back from it: for a sign-in, and for a sign-out at the provider.
struct BrowserWindow: Sendable {
    /// What goes to the provider.
    let redirectURI: String
    /// Nil where the redirect is handed in (`interaction.complete`).
    private let endpoint: (any RedirectEndpoint)?
    private let browser: any BrowserOpener

    /// Listens, where the browser comes back to loopback.
    ///
    /// - Parameters:
    ///   - registered: the redirect URI as it was written, which the destination was read from.
    ///   - takesForm: whether the redirect may come as a form.
    init(
        backTo destination: RedirectDestination, registeredAs registered: String? = nil, takesForm: Bool = false,
        for interaction: Interaction<some Sendable>, _ services: EngineServices
    ) async throws(BrokerError) {
        browser = services.browser
        switch destination {
        case .elsewhere(let uri): (redirectURI, endpoint) = (uri, nil)
        case .loopback(let target):
            let endpoint: any RedirectEndpoint
            do throws(RedirectError) {
                endpoint = try await services.redirects.open(
                    target, for: interaction.partition, takesForm: takesForm
                ) {
                    await interaction.browserReturned(with: $0)
                }
            } catch {
                throw BrokerError(error)
            }
            redirectURI = RedirectDestination.sent(registered, listeningAt: endpoint.redirectURI)
            self.endpoint = endpoint
        }
    }

    /// - Parameter onOpen: told what to open, where the client opens it.
    func open(
        _ opening: InteractionOpening, by presentation: Presentation, _ onOpen: (InteractionOpening) -> Void
    ) async throws(BrokerError) {
        guard presentation == .broker else { return onOpen(opening) }
        do throws(BrowserError) {
            try await browser.open(opening.url)
        } catch {
            throw BrokerError(
                .unsupported, "The broker could not open a browser (\(error.message)); let the client open it.",
                cause: error)
        }
    }

    func close() async { await endpoint?.close() }
}

extension RedirectDestination {
    /// Whether the broker itself is there when the browser comes back.
    var isListenedAt: Bool { if case .loopback = self { true } else { false } }
}

extension BrokerError {
    fileprivate init(_ error: RedirectError) {
        switch error {
        case .portInUse(let port):
            self.init(
                .invalidParameter,
                "Port \(port) of the redirect URI is in use by another program; end it, or register a redirect URI without a port.",
                cause: error)
        case .cannotListen(let why): self.init(.internal, why, cause: error)
        }
    }
}
