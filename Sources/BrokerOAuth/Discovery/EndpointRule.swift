import BrokerModel
import BrokerValues

/// The URLs to which an authority may send the broker: `https`; plain http only to loopback, and only if the authority
/// itself is such a URL (its ``Authority`` value proves that this was allowed).
struct EndpointRule {
    private let allowsHTTPLoopback: Bool

    init(authority: Authority) {
        allowsHTTPLoopback = authority.isPlainHTTP
    }

    /// - Returns: `nil` if the text is not a URL, has a fragment (RFC 6749, section 3.1 and 3.2), or may not be used.
    func accepted(_ text: String) -> WebURL? {
        acceptedPage(text).flatMap { $0.hasFragment ? nil : $0 }
    }

    /// For a page that the user opens, which may have a fragment.
    func acceptedPage(_ text: String) -> WebURL? {
        guard let url = WebURL(text) else { return nil }
        return url.isSecure || (allowsHTTPLoopback && url.isSafeToRequest) ? url : nil
    }
}
