import BrokerModel
import BrokerValues

/// A document of one issuer: what another issuer says is at the same address is another document. An issuer could else put keys of
/// its own under the address of its neighbour's.
struct DocumentPlace: Sendable, Hashable {
    let url: WebURL
    /// Who is asked (``BrokerModel/Authority/trustBoundary``).
    let issuer: String

    init(_ url: WebURL, of authority: Authority) {
        self.url = url
        issuer = authority.trustBoundary
    }

    /// Neither part has a blank.
    var name: String { "\(issuer) \(url.text)" }

    /// Of the document with a ``name``; the name itself where it is of an earlier version, which knew URLs only.
    static func server(of name: String) -> String {
        let url = name.split(separator: " ").last.map { String($0) } ?? name
        return WebURL(url)?.server ?? name
    }
}
