import BrokerValues
import Foundation

/// The two halves of a sign-in without the broker, to test the provider itself: an authorization request with
/// PKCE, and requests to the token endpoint (RFC 6749, RFC 7636).
package struct PlainClient: Sendable {
    package let http: HTTPSession
    package let clientID: String
    package let redirectURI: String
    private let endpoints: JSONObject

    /// RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    package init(_ clientID: String, authority: String, redirectURI: String, http: HTTPSession) async throws {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.http = http
        let discovery = try await http.get("\(authority)/.well-known/openid-configuration")
        endpoints = try discovery.json().objectValue ?? [:]
    }

    package func authorizationURL(_ more: [String: String] = [:]) -> String {
        var query = [
            "client_id": clientID, "response_type": "code", "scope": "openid profile", "state": "state-1",
            "nonce": "nonce-1", "redirect_uri": redirectURI, "code_challenge": Self.challenge,
            "code_challenge_method": "S256",
        ]
        query.merge(more) { $1 }
        let text = query.map { "\($0.key)=\($0.value.urlEncoded)" }.joined(separator: "&")
        return "\(endpoints["authorization_endpoint"]?.stringValue ?? "")?\(text)"
    }

    package func redeem(_ redirect: ProviderRedirect) async throws -> HTTPReply {
        try await askForTokens([
            ("grant_type", "authorization_code"), ("code", redirect["code"] ?? ""), ("redirect_uri", redirectURI),
            ("code_verifier", Self.verifier),
        ])
    }

    package func refresh(_ refreshToken: String) async throws -> HTTPReply {
        try await askForTokens([("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    }

    private func askForTokens(_ fields: [(name: String, value: String)]) async throws -> HTTPReply {
        let endpoint = endpoints["token_endpoint"]?.stringValue ?? ""
        return try await http.send("POST", endpoint, body: .form([("client_id", clientID)] + fields))
    }
}
