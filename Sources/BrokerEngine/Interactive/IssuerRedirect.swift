import BrokerModel
import BrokerValues

/// The redirect URI for answers of an issuer that is not the app's own (decision 12). Pure.
///
/// Issuers of one host may know the same client. One that does not promise to name itself in its answers (RFC 9207) could send the
/// browser on to the app's own issuer and receive that issuer's code (mix-up; RFC 9700, section 4.4.2). So the redirect URI has a
/// path to which the app's own issuer, which compares it with the registered one, sends nothing.
package enum IssuerRedirect {
    /// - Parameters:
    ///   - asked: the request's own redirect URI; `nil` for the app's.
    ///   - metadata: the metadata of the issuer that is asked.
    /// - Returns: `nil` for any port of loopback.
    /// - Throws: `invalidAuthority` if the redirect URI cannot have a path for each issuer.
    package static func uri(
        asked: String?, of app: AppRegistration, at metadata: ProviderMetadata
    ) throws(BrokerError) -> String? {
        let uri = asked ?? app.redirectURI
        let issuer = metadata.authority
        guard !issuer.rules.hasHostWideClients, issuer.trustBoundary != app.authority.trustBoundary,
            !metadata.promisesIssuerInResponse, !issuer.path.isEmpty
        else { return uri }
        let ending = "/" + issuer.path
        if let asked, asked != app.redirectURI, asked.hasSuffix(ending) { return asked }
        guard case .loopback = try RedirectDestination.parse(uri) else {
            throw BrokerError(
                .invalidAuthority,
                "\(issuer.url) does not say that it names itself in its answers (RFC 9207), so they could come from "
                    + "another issuer of \(issuer.environment); register an app there, or name a redirectUri that ends with "
                    + "\(ending)."
            )
        }
        var base = uri ?? "http://127.0.0.1"
        while base.hasSuffix("/") { base.removeLast() }
        return base + ending
    }
}
