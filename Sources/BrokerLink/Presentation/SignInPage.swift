/// A page on which the person signs in.
public struct SignInPage: Sendable {
    /// The provider's authorization endpoint with this request's parameters. Show it to the person only; do not write it
    /// to logs.
    public let url: String
    /// The URL to which the provider redirects the browser; the broker listens there.
    public let redirectUri: String
    /// Seconds since 1970: when the broker stops waiting.
    public let expiresOn: Int64
    /// Identifies this sign-in to the broker.
    public let interactionId: String
    /// The request's id in all logs.
    public let correlationId: String

    package init(
        url: String, redirectUri: String = "", expiresOn: Int64 = 0, interactionId: String = "",
        correlationId: String = ""
    ) {
        self.url = url
        self.redirectUri = redirectUri
        self.expiresOn = expiresOn
        self.interactionId = interactionId
        self.correlationId = correlationId
    }
}

/// Shows a sign-in page to the person.
public protocol BrowserOpening: Sendable {
    /// Shows the page and returns, without waiting for the person.
    ///
    /// - Parameter page: the page to show.
    /// - Throws: if the page cannot be shown; the sign-in is then cancelled.
    func open(_ page: SignInPage) async throws
}
