import BrokerModel
import BrokerValues

/// A form for an endpoint at which the client identifies itself: token (RFC 6749, section 2.3.1), revocation
/// (RFC 7009, section 2.1), device authorization (RFC 8628, section 3.1), pushed authorization (RFC 9126, section 2).
struct ClientForm {
    var body = FormBody()
    var headers = [
        HTTPHeader("Content-Type", FormBody.contentType),
        HTTPHeader("Accept", "application/json"),
    ]

    /// - Parameters:
    ///   - endpoint: already checked.
    ///   - namesClientAlways: whether `client_id` is a parameter of the request itself, and therefore in the body even if
    ///     the header identifies the client.
    func request(
        to endpoint: WebURL, as client: ClientCredentials, at metadata: ProviderMetadata,
        namesClientAlways: Bool = false
    ) throws(ProviderError) -> HTTPRequest {
        var body = body
        var headers = headers
        let authentication = try ClientAuthentication(of: client, at: metadata)
        switch authentication {
        case .none: break
        case .post(let secret): body.add("client_secret", secret)
        case .basic(let secret):
            headers.append(HTTPHeader("Authorization", secret: Self.basic(client.clientID, secret)))
        }
        if namesClientAlways || !authentication.isInHeader { body.add("client_id", client.clientID) }
        return HTTPRequest(
            .post, endpoint.text, of: metadata.authority.trustBoundary, headers: headers, body: body.secret())
    }

    /// Id and secret are form-encoded before they are joined: either may contain a colon.
    private static func basic(_ clientID: String, _ secret: Secret) -> Secret {
        var pair = SecretText()
        pair.append(encoding: clientID, spaceAsPlus: true)
        pair.append(":")
        pair.append(encoding: secret, spaceAsPlus: true)
        return Base64.encode(pair.secret(), prefix: "Basic ")
    }
}

/// How a client authenticates to the provider. The metadata of the token endpoint applies to the other endpoints, too
/// (RFC 8414, section 2; RFC 9126, section 2).
enum ClientAuthentication {
    /// A public client only sends its id.
    case none
    case basic(Secret)
    case post(Secret)

    init(of client: ClientCredentials, at metadata: ProviderMetadata) throws(ProviderError) {
        guard let secret = client.secret else {
            self = .none
            return
        }
        // The client's own registration takes precedence over the provider's metadata.
        switch client.method ?? Self.method(at: metadata) {
        case .basic: self = .basic(secret)
        case .post: self = .post(secret)
        case nil:
            throw .invalidResponse(
                status: nil,
                "The provider takes no client secret at its token endpoint. Register the app without one, or another way "
                    + "of authentication with the provider.")
        }
    }

    /// The method for a client with a secret; `nil` if the provider supports none that the broker knows.
    static func method(at metadata: ProviderMetadata) -> ClientSecretMethod? {
        ClientSecretMethod.allCases.first { metadata.tokenEndpointAuthMethods.contains($0.rawValue) }
    }

    var isInHeader: Bool { if case .basic = self { true } else { false } }
}
