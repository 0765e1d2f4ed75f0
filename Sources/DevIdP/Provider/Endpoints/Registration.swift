import FoundationEssentials
import Hummingbird

/// Client metadata (RFC 7591, section 2): the members that this provider reads.
private struct ClientMetadata: Decodable {
    var redirect_uris: [String]?
    var post_logout_redirect_uris: [String]?
    var client_name: String?
    var token_endpoint_auth_method: String?
    var grant_types: [String]?
    var response_types: [String]?
    var require_pushed_authorization_requests: Bool?
    var dpop_bound_access_tokens: Bool?
}

extension Provider {
    /// RFC 7591, section 3.
    func register(_ request: Request, _ context: ProviderContext) async throws -> Response {
        if let token = options.initialAccessToken {
            let shown = request.headers[.authorization]?.split(separator: " ") ?? []
            guard shown.count == 2, shown[0].lowercased() == "bearer", equalInConstantTime(String(shown[1]), token)
            else {
                return try refusal(
                    OAuthFailure(.invalidToken, "registering needs the initial access token"), context,
                    status: .unauthorized, headers: [.wwwAuthenticate: "Bearer realm=\"dev-idp\""])
            }
        }
        let body = try await request.body.collect(upTo: 64 << 10)
        guard let metadata = try? JSONDecoder().decode(ClientMetadata.self, from: Data(body.readableBytesView)),
            let members = JSON(text: String(buffer: body))?.object
        else { throw OAuthFailure(.invalidClientMetadata, "the metadata is not a JSON object of the known kinds") }
        let client = try Self.client(of: metadata)
        clients.withLock { $0.add(client) }
        return try answer(members, client, metadata)
    }

    private static func client(of metadata: ClientMetadata) throws(OAuthFailure) -> ProviderClient {
        let grants = metadata.grant_types ?? ["authorization_code"]
        let known = ["authorization_code", "refresh_token", deviceGrant]
        if let unknown = grants.first(where: { !known.contains($0) }) {
            throw OAuthFailure(.invalidClientMetadata, "unknown grant type \(unknown)")
        }
        guard metadata.response_types ?? ["code"] == ["code"] || !grants.contains("authorization_code") else {
            throw OAuthFailure(.invalidClientMetadata, "only the response type code")
        }
        let uris = metadata.redirect_uris ?? []
        guard !uris.isEmpty || !grants.contains("authorization_code") else {
            throw OAuthFailure(.invalidRedirectURI, "redirect_uris is missing")
        }
        for uri in uris {
            guard let parts = URLComponents(string: uri), parts.scheme != nil, parts.fragment == nil else {
                throw OAuthFailure(.invalidRedirectURI, "\(uri) is not an absolute URI without a fragment")
            }
        }
        let method = metadata.token_endpoint_auth_method ?? "client_secret_basic"
        guard ["none", "client_secret_basic", "client_secret_post"].contains(method) else {
            throw OAuthFailure(.invalidClientMetadata, "unknown authentication method \(method)")
        }
        var client = ProviderClient(
            id: "client-" + randomText().prefix(16), secret: method == "none" ? nil : randomText(),
            name: metadata.client_name, redirectURIs: uris,
            postLogoutRedirectURIs: metadata.post_logout_redirect_uris ?? [])
        client.requiresPushedAuthorization = metadata.require_pushed_authorization_requests ?? false
        client.requiresProof = metadata.dpop_bound_access_tokens ?? false
        return client
    }

    /// Section 3.2.1: the registered metadata.
    private func answer(
        _ members: [String: JSON], _ client: ProviderClient, _ metadata: ClientMetadata
    ) throws -> Response {
        var members = members
        members["client_id"] = .string(client.id)
        members["client_id_issued_at"] = .integer(now())
        members["redirect_uris"] = .strings(client.redirectURIs)
        members["grant_types"] = .strings(metadata.grant_types ?? ["authorization_code"])
        members["token_endpoint_auth_method"] = .string(metadata.token_endpoint_auth_method ?? "client_secret_basic")
        if let secret = client.secret {
            members["client_secret"] = .string(secret)
            members["client_secret_expires_at"] = 0
        }
        return try json(members, status: .created)
    }
}
