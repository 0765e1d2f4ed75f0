import FoundationEssentials
import Hummingbird

/// RFC 6749, section 2.3: Basic, or fields of the form; public clients only send their id.
extension Provider {
    static let basicChallenge = "Basic realm=\"dev-idp\""

    func authenticateClient(_ request: Request, _ form: FormValues) throws(OAuthFailure) -> ProviderClient {
        let presented = try presentedCredentials(request, form)
        guard let id = presented.id else { throw OAuthFailure(.invalidClient, "the request names no client") }
        guard let client = client(id) else {
            throw OAuthFailure(.invalidClient, "unknown client \(id)", .unknownClient)
        }
        switch (client.secret, presented.secret) {
        case (nil, nil): return client
        case (nil, _?): throw OAuthFailure(.invalidClient, "\(id) is a public client and has no secret")
        case (_?, nil): throw OAuthFailure(.invalidClient, "\(id) must authenticate with its secret")
        case (let expected?, let secret?):
            guard equalInConstantTime(expected, secret) else {
                throw OAuthFailure(.invalidClient, "wrong secret for \(id)")
            }
            return client
        }
    }

    private func presentedCredentials(
        _ request: Request, _ form: FormValues
    ) throws(OAuthFailure) -> (id: String?, secret: String?) {
        guard let header = request.headers[.authorization] else { return (form["client_id"], form["client_secret"]) }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let decoded = Data(base64Encoded: String(parts[1])),
            let text = String(validating: decoded, as: UTF8.self)
        else { throw OAuthFailure(.invalidClient, "the Authorization header is not Basic credentials") }
        // Both halves are form-encoded before they are joined (section 2.3.1).
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let id = percentDecoded(halves[0]), let secret = percentDecoded(halves[1]) else {
            throw OAuthFailure(.invalidClient, "the Basic credentials are not id:secret")
        }
        guard form["client_secret"] == nil, form["client_id"] ?? id == id else {
            throw OAuthFailure(.invalidRequest, "the client authenticates in more than one way")
        }
        return (id, secret.isEmpty ? nil : secret)
    }
}
