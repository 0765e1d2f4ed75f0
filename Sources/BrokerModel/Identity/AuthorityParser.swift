/// Parses authorities with this broker's settings: one value for all code that handles an authority's URL.
package struct AuthorityParser: Sendable, Equatable {
    package var allowsHTTPLoopback: Bool
    /// The administrator's choice of kind, by host, with its port unless that is the scheme's default.
    package var kinds: [String: ProviderKind]

    /// The clouds that belong together.
    package var clouds: CloudTable

    package init(
        allowsHTTPLoopback: Bool = false, kinds: [String: ProviderKind] = [:], clouds: CloudTable = CloudTable()
    ) {
        self.allowsHTTPLoopback = allowsHTTPLoopback
        self.kinds = kinds
        self.clouds = clouds
    }

    package func authority(_ text: String) throws(InvalidAuthority) -> Authority {
        try Authority(parsing: text, allowHTTPLoopback: allowsHTTPLoopback, kinds: kinds)
    }

    /// For URLs that were checked before they were stored: whether plain http is still allowed is checked elsewhere.
    package func recorded(_ url: String) -> Authority? {
        try? Authority(parsing: url, allowHTTPLoopback: true, kinds: kinds)
    }
}
