import BrokerModel
import BrokerValues

extension OAuthProvider {
    package func push(
        _ request: AuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> PushedAuthorization {
        let endpoint = try endpoint(
            metadata.pushedAuthorizationRequestEndpoint, for: "pushed authorization requests", of: metadata)
        var form = ClientForm()
        for (name, value) in AuthorizationURL.parameters(of: request, at: metadata) where name != "client_id" {
            form.body.add(name, value)
        }
        let answer = try await answer(
            to: form.request(to: endpoint, as: client, at: metadata, namesClientAlways: true), from: endpoint)
        return try PushedAuthorization(answer)
    }

    package func authorizationURL(
        of pushed: PushedAuthorization, as clientID: String, at metadata: ProviderMetadata
    ) -> String {
        HandOver.address(
            PercentEncoding.url(
                metadata.authorizationEndpoint, adding: [("client_id", clientID), ("request_uri", pushed.requestURI)]))
    }
}

extension PushedAuthorization {
    /// RFC 9126, section 2.2; some providers answer 200 instead of 201.
    fileprivate init(_ answer: EndpointAnswer) throws(ProviderError) {
        let object = try answer.object(statuses: [201, 200], expected: "a request URI or an OAuth error")
        guard let uri = object["request_uri"]?.stringValue, (1...2048).contains(uri.utf8.count),
            uri.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw answer.incomplete("holds no request URI") }
        guard let expiresIn = object.duration("expires_in"), expiresIn > 0 else {
            throw answer.incomplete("does not say when the request URI expires")
        }
        self.init(requestURI: uri, expiresIn: expiresIn)
    }
}
