import BrokerModel
import BrokerValues

/// Where an authority may send the broker: `https`; plain http only to loopback, and only when the authority itself is
/// such a one (its ``Authority`` value proves that this was allowed).
struct EndpointRule {
    private let allowsHTTPLoopback: Bool

    init(authority: Authority) {
        allowsHTTPLoopback = authority.isPlainHTTP
    }

    /// - Returns: nil when the text is no URL, has a fragment (RFC 6749, section 3.1 and 3.2), or may not be used.
    func accepted(_ text: String) -> WebURL? {
        acceptedPage(text).flatMap { $0.hasFragment ? nil : $0 }
    }

    /// For a page that a person opens, which may have a fragment.
    func acceptedPage(_ text: String) -> WebURL? {
        guard let url = WebURL(text) else { return nil }
        return url.isSecure || (allowsHTTPLoopback && url.isLoopback) ? url : nil
    }
}
