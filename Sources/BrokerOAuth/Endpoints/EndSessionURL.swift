import BrokerModel
import BrokerValues

extension OAuthProvider {
    /// OpenID Connect RP-Initiated Logout 1.0, section 2. The ID token is part of the URL because a browser must send
    /// it; it is only a hint and grants no access.
    package func endSessionURL(_ request: EndSessionRequest, at metadata: ProviderMetadata) -> String? {
        guard let endpoint = metadata.endSessionEndpoint,
            let url = EndpointRule(authority: metadata.authority).accepted(endpoint)
        else { return nil }
        var parameters: [(String, String)] = []
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { parameters.append((name, value)) }
        }
        add("id_token_hint", request.idTokenHint.flatMap(IDTokenHint.inAddress)?.revealed())
        add("logout_hint", request.logoutHint)
        add("client_id", request.clientID)
        add("post_logout_redirect_uri", request.postLogoutRedirectURI)
        // Without a redirect URI the state is never returned.
        if request.postLogoutRedirectURI != nil { add("state", request.state) }
        for (name, value) in request.parameters.sorted(by: { $0.key < $1.key }) { parameters.append((name, value)) }
        return HandOver.address(PercentEncoding.url(url.text, adding: parameters))
    }
}
