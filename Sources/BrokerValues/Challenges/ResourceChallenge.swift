/// A resource server's requirements for the next token, from the challenge to the last request (RFC 6750, RFC 9449, RFC 9470, RFC
/// 9728, and Microsoft Entra's claims). Pure (docs/decisions/0021).
package struct ResourceChallenge: Sendable, Hashable {
    /// The header as received.
    package let text: String
    /// Further scopes for the token.
    package private(set) var scopes: [String] = []
    /// A claims request, as JSON.
    package private(set) var claims: String?
    /// How the user has to authenticate, and the maximum age of that.
    package private(set) var stepUp: StepUp?
    /// The server's resource identifier, from the URL of its metadata (RFC 9728, section 3.1).
    package private(set) var resource: String?

    /// The challenge cannot be parsed.
    package struct Unreadable: Error, Sendable, Equatable {
        /// The end of a sentence that begins with the param.
        package let problem: String
    }

    package static let longest = 32_768

    /// Creates a challenge that is only passed on, without reading it.
    package init(unread text: String) { self.text = text }

    /// - Parameter header: the value of a `WWW-Authenticate` header, with all challenges that are in it.
    package init(_ header: String) throws(Unreadable) {
        text = header
        guard header.utf8.count <= Self.longest else {
            throw Unreadable(problem: "must have at most \(Self.longest) bytes")
        }
        let all: [AuthenticationChallenge]
        do throws(AuthenticationChallenge.Malformed) { all = try AuthenticationChallenge.read(header) } catch {
            throw Unreadable(
                problem: "must be the value of a WWW-Authenticate header, and is invalid from \(quoted(error.rest)) on")
        }
        let challenges = all.filter { ["bearer", "dpop"].contains($0.scheme.lowercased()) }
        guard !challenges.isEmpty else {
            let schemes = all.map(\.scheme).joined(separator: ", ")
            throw Unreadable(
                problem: all.isEmpty
                    ? "must be the value of a WWW-Authenticate header, and is empty"
                    : "must ask for a token (Bearer or DPoP), and asks for \(quoted(schemes))")
        }
        for challenge in challenges { try add(challenge) }
    }

    package var withoutClaims: ResourceChallenge {
        var challenge = self
        challenge.claims = nil
        return challenge
    }

    package var withoutStepUp: ResourceChallenge {
        var challenge = self
        challenge.stepUp = nil
        return challenge
    }

    private mutating func add(_ challenge: AuthenticationChallenge) throws(Unreadable) {
        // The required scopes of an invalid token do not apply to the next one.
        if challenge["error"] != "invalid_token", let text = challenge["scope"] {
            for scope in text.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
            where !scopes.contains(scope) {
                guard scope.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
                    throw Self.wrong("scope", text)
                }
                scopes.append(scope)
                // Checked here, so that the search above stays short.
                guard scopes.count <= 100 else { throw Self.wrong("scope", text) }
            }
        }
        if claims == nil, let text = challenge["claims"], !text.isEmpty {
            guard let json = ClaimsText.object(in: text) else { throw Self.wrong("claims", text) }
            claims = json
        }
        if stepUp == nil { stepUp = try StepUp(challenge) }
        if resource == nil, let text = challenge["resource_metadata"] { resource = Self.resource(ofMetadataAt: text) }
    }

    fileprivate static func wrong(_ name: String, _ value: String) -> Unreadable {
        Unreadable(problem: "has a \(name) that cannot be understood: \(quoted(value))")
    }

    // MARK: The server

    /// Whether a resource of the app's registration is the one that refused.
    package func isFrom(_ resource: String) -> Bool {
        guard let own = self.resource else { return false }
        return Self.plain(own) == Self.plain(resource)
    }

    /// The resource whose metadata is at a URL: the well-known part is between the host and the path of the resource (RFC 9728,
    /// section 3.1).
    private static func resource(ofMetadataAt url: String) -> String? {
        let marker = "/.well-known/oauth-protected-resource"
        guard let host = host(of: url), !url.contains("#"), !url.contains("?"),
            let path = url[host...].firstIndex(of: "/"), path > host, url[path...].hasPrefix(marker)
        else { return nil }
        let rest = url[path...].dropFirst(marker.count)
        guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
        return String(url[..<path] + rest)
    }

    /// The URI with scheme and host in lower case, and without the trailing slash.
    private static func plain(_ uri: String) -> String {
        guard let host = host(of: uri) else { return uri }
        let path = uri[host...].firstIndex(of: "/") ?? uri.endIndex
        let rest = uri[path...]
        return uri[..<path].lowercased() + (rest.hasSuffix("/") ? rest.dropLast() : rest)
    }

    /// The start of the host.
    private static func host(of uri: String) -> String.Index? {
        guard let colon = uri.firstIndex(of: ":"), uri[colon...].hasPrefix("://") else { return nil }
        return uri.index(colon, offsetBy: 3)
    }
}

/// A sign-in with stronger authentication than the last one (RFC 9470).
package struct StepUp: Sendable, Hashable {
    /// The authentication contexts, best first; empty for any.
    package let acrValues: [String]
    /// The maximum age of the user's last authentication, in seconds.
    package let maxAge: Int64?

    fileprivate init?(_ challenge: AuthenticationChallenge) throws(ResourceChallenge.Unreadable) {
        let words = (challenge["acr_values"] ?? "").split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        guard words.count <= 16,
            words.allSatisfy({ $0.utf8.count <= 512 && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
        else { throw ResourceChallenge.wrong("acr_values", challenge["acr_values"] ?? "") }
        acrValues = words
        let text = challenge["max_age"]
        maxAge = text.flatMap { Int64($0) }
        if let text, maxAge.map({ !(0...315_360_000).contains($0) }) ?? true {
            throw ResourceChallenge.wrong("max_age", text)
        }
        let isAsked = challenge["error"] == "insufficient_user_authentication"
        guard isAsked || !words.isEmpty || maxAge != nil else { return nil }
    }

    /// The part that a claims request can express: the contexts of which the ID token has to name one; `nil` if there are none.
    package var claims: String? {
        guard !acrValues.isEmpty else { return nil }
        let acr: JSONObject = ["essential": true, "values": .array(acrValues.map(JSONValue.string))]
        let request: JSONObject = ["id_token": ["acr": .object(acr)]]
        return String(decoding: request.json, as: UTF8.self)
    }
}

private func quoted(_ text: String) -> String { "\"\(SafeText(text, atMost: 64, .mark).text)\"" }
