import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Opens pages in browsers, and listens for the way back.
struct BrowserWindows: Sendable {
    let redirects: any RedirectListener
    let browser: any BrowserOpener
}

/// A page in the person's browser, and the way back from it: for a sign-in, and for a sign-out at the provider.
struct BrowserWindow: Sendable {
    /// The redirect URI sent to the provider.
    let redirectURI: String
    /// The listener for the redirect; `nil` if `interaction.complete` delivers it.
    private let endpoint: (any RedirectEndpoint)?
    private let browser: any BrowserOpener

    /// Starts to listen if the browser returns to loopback (RFC 8252, section 7.3).
    ///
    /// - Parameters:
    ///   - registered: the redirect URI as written, from which the destination was parsed.
    ///   - takesForm: whether the redirect may come as a form.
    init(
        backTo destination: RedirectDestination, registeredAs registered: String? = nil, takesForm: Bool = false,
        for interaction: Interaction<some Sendable>, _ windows: BrowserWindows
    ) async throws(BrokerError) {
        browser = windows.browser
        switch destination {
        case .elsewhere(let uri): (redirectURI, endpoint) = (uri, nil)
        case .loopback(let target):
            let endpoint: any RedirectEndpoint
            do throws(RedirectError) {
                endpoint = try await windows.redirects.open(
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

    /// Opens the page.
    ///
    /// - Parameter onOpen: receives the URL to open, if the client opens it.
    /// - Throws: `unsupported` if the broker could not open a browser.
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
    /// Whether the broker itself receives the redirect.
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
