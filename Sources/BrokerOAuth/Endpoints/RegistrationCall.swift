import BrokerModel
import BrokerValues

extension OAuthProvider {
    package func register(
        _ request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient {
        let endpoint = try endpoint(metadata.registrationEndpoint, for: "registration of clients", of: metadata)
        let grants = ClientMetadata.grants(at: metadata)
        do throws(ProviderError) {
            return try await register(request, for: grants, to: endpoint, at: metadata)
        } catch {
            guard let fewer = ClientMetadata.grants(afterRefusalOf: grants, with: error) else { throw error }
            return try await register(request, for: fewer, to: endpoint, at: metadata)
        }
    }

    private func register(
        _ request: ClientRegistrationRequest, for grants: [String], to endpoint: WebURL, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient {
        let body = try ClientMetadata.document(of: request, for: grants, at: metadata)
        var headers = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json")]
        if let token = request.initialAccessToken {
            headers.append(.authorization(.bearer, token))
        }
        let answer = try await answer(
            to: HTTPRequest(
                .post, endpoint.text, of: metadata.authority.trustBoundary, headers: headers, body: body),
            from: endpoint)
        return try RegisteredClient(answer, isConfidential: request.isConfidential)
    }
}

/// The client metadata that the broker sends (RFC 7591, section 2; OpenID Connect Registration 1.0, section 2).
enum ClientMetadata {
    private static let deviceCode = "urn:ietf:params:oauth:grant-type:device_code"

    /// The grants to register: all that the broker can use there.
    static func grants(at metadata: ProviderMetadata) -> [String] {
        ["authorization_code", "refresh_token"] + (metadata.deviceAuthorizationEndpoint == nil ? [] : [deviceCode])
    }

    /// The grants of a second attempt, if there is one. A server may leave out of a registration what it does not support
    /// (RFC 7591, section 2), but some refuse it as a whole: glewlwyd has another name for device codes, and
    /// django-oauth-toolkit makes clients for one grant. A client that signs in with the browser is better than none.
    static func grants(afterRefusalOf grants: [String], with error: ProviderError) -> [String]? {
        guard case .refused(let refusal) = error, refusal.status == 400, refusal.error == "invalid_client_metadata",
            grants.contains(deviceCode)
        else { return nil }
        return grants.filter { $0 != deviceCode }
    }

    static func document(
        of request: ClientRegistrationRequest, for grants: [String], at metadata: ProviderMetadata
    ) throws(ProviderError) -> Secret {
        var document: JSONObject = [
            "application_type": "native",
            "client_name": .string(request.clientName),
            "redirect_uris": .array(request.redirectURIs.map(JSONValue.string)),
            "grant_types": .array(grants.map(JSONValue.string)),
            "response_types": ["code"],
            "token_endpoint_auth_method": .string(try authentication(of: request, at: metadata)),
        ]
        if !request.scopes.isEmpty { document["scope"] = .string(request.scopes.parameter) }
        return document.json.withUnsafeBytes { Secret(copying: $0) }
    }

    private static func authentication(
        of request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) throws(ProviderError) -> String {
        guard request.isConfidential else { return "none" }
        guard let method = ClientAuthentication.method(at: metadata) else {
            throw .notOffered(
                "The provider \(metadata.authority.environment) does not offer clients with a secret; register a public "
                    + "one.")
        }
        return method.rawValue
    }
}

extension RegisteredClient {
    /// RFC 7591, section 3.2.1; some providers answer 200 instead of 201.
    fileprivate init(_ answer: EndpointAnswer, isConfidential: Bool) throws(ProviderError) {
        let response = answer.response
        // RFC 6750, section 3.1: a refused registration is reported in a header, often without a body.
        if response.status == 401 || response.status == 403, answer.object?["error"] == nil {
            throw .refused(
                OAuthRefusal(
                    error: response.status == 401 ? "invalid_token" : "insufficient_scope",
                    description: "The provider wants an initial access token that allows registering clients.",
                    status: response.status))
        }
        let object = try answer.object(statuses: [201, 200], expected: "a client or an OAuth error")
        guard let clientID = object["client_id"]?.stringValue, (1...1024).contains(clientID.utf8.count),
            SafeText(clientID, atMost: 1024).text.isExactly(clientID)
        else { throw answer.incomplete("names no client") }
        let method = try Self.method(in: object, of: answer)
        let secret = method == .none ? nil : object.secret("client_secret")
        guard secret != nil || !isConfidential else {
            throw answer.incomplete("makes a public client instead of one with a secret")
        }
        let expiry = object["client_secret_expires_at"]?.seconds
        self.init(
            clientID: clientID, clientSecret: secret,
            clientSecretExpiresOn: secret == nil ? nil : expiry.flatMap { $0 == 0 ? nil : $0 })
        if secret != nil, case .secret(let named) = method { secretMethod = named }
    }

    private enum Method: Equatable {
        case unsaid
        /// A public client, regardless of the rest of the answer.
        case none
        case secret(ClientSecretMethod)
    }

    /// The provider's registered value counts, not the requested one (RFC 7591, section 3.2.1).
    private static func method(in object: JSONObject, of answer: EndpointAnswer) throws(ProviderError) -> Method {
        guard let name = object["token_endpoint_auth_method"]?.stringValue else { return .unsaid }
        if name == "none" { return .none }
        guard let method = ClientSecretMethod(rawValue: name) else {
            let name = SafeText(name, atMost: 40).text
            throw answer.incomplete("makes a client that authenticates by \(name), which the broker does not know")
        }
        return .secret(method)
    }
}
