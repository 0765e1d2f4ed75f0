import BrokerModel
import BrokerValues

/// A document of one issuer: the same address under another issuer is another document. Otherwise an issuer could put its own keys
/// under the address of its neighbor's.
struct DocumentPlace: Sendable, Hashable {
    let url: WebURL
    /// The server that is asked (``BrokerModel/Authority/trustBoundary``).
    let issuer: String

    init(_ url: WebURL, of authority: Authority) {
        self.url = url
        issuer = authority.trustBoundary
    }

    /// Neither part contains a space.
    var name: String { "\(issuer) \(url.text)" }

    /// The issuer of the document with a ``name``; the name itself if an earlier version wrote it, which stored URLs only.
    static func server(of name: String) -> String {
        let url = name.split(separator: " ").last.map { String($0) } ?? name
        return WebURL(url)?.server ?? name
    }
}
