/// Reads authorities as this broker is set up: one value for everything that meets an authority's URL.
package struct AuthorityParser: Sendable, Equatable {
    package var allowsHTTPLoopback: Bool
    /// By host, and port where it is not the scheme's own: what the administrator says a provider is.
    package var kinds: [String: ProviderKind]

    /// Which of them are clouds that belong together.
    package var clouds: CloudTable

    package init(
        allowsHTTPLoopback: Bool = false, kinds: [String: ProviderKind] = [:], clouds: CloudTable = CloudTable()
    ) {
        self.allowsHTTPLoopback = allowsHTTPLoopback
        self.kinds = kinds
        self.clouds = clouds
    }

    package func authority(_ text: String) throws(Authority.Invalid) -> Authority {
        try Authority(parsing: text, allowHTTPLoopback: allowsHTTPLoopback, kinds: kinds)
    }

    /// For URLs that were checked before they were written down: whether plain http is still allowed is asked elsewhere.
    package func recorded(_ url: String) -> Authority? {
        try? Authority(parsing: url, allowHTTPLoopback: true, kinds: kinds)
    }
}
