/// A checked authorization request (RFC 6749, section 4.1.1; OpenID Connect Core, section 3.1.2.1).
struct AuthorizationRequest: Sendable {
    enum Prompt: String, Sendable {
        case none
        case login
        case consent
        case selectAccount = "select_account"
    }

    var clientID: String
    var redirectURI: String
    var scopes: [String]
    var state: String?
    var nonce: String?
    var challenge: String
    var prompts: Set<Prompt>
    /// Seconds since the person last typed a password.
    var maxAge: Int?
    var loginHint: String?
    var idTokenHint: String?
}

/// Where a refused request ends: without a client and a redirect URI that belong together nobody may be sent anywhere,
/// so the person sees a page (RFC 6749, section 4.1.2.1); everything else goes back to the client.
enum AuthorizationRefusal: Error, Sendable {
    case page(String)
    case redirect(to: String, state: String?, OAuthFailure)
}

extension AuthorizationRequest {
    init(_ form: FormValues, clients: ClientDirectory, scopes known: Set<String>) throws(AuthorizationRefusal) {
        for name in ["client_id", "redirect_uri"] where form.repeated.contains(name) {
            throw .page("The request names \(name) more than once.")
        }
        guard let clientID = form["client_id"] else { throw .page("The request names no client_id.") }
        guard let client = clients.client(clientID) else {
            throw .page("No client is registered under the id \"\(clientID)\".")
        }
        guard let uri = form["redirect_uri"] else { throw .page("The request names no redirect_uri.") }
        guard RedirectURIRules.accepts(uri, registered: client.redirectURIs) else {
            throw .page("The redirect URI \"\(uri)\" is not registered for the client \"\(clientID)\".")
        }
        do {
            self = try AuthorizationRequest(form, client: client, redirectURI: uri, scopes: known)
        } catch {
            throw .redirect(to: uri, state: form["state"], error)
        }
    }

    private init(
        _ form: FormValues, client: ProviderClient, redirectURI: String, scopes known: Set<String>
    ) throws(OAuthFailure) {
        if let name = form.repeated.first { throw OAuthFailure(.invalidRequest, "\(name) came more than once") }
        if form["request"] != nil { throw OAuthFailure(.requestNotSupported, "request objects are not taken") }
        if form["request_uri"] != nil { throw OAuthFailure(.requestURINotSupported, "request_uri is not taken") }
        guard let type = form["response_type"] else { throw OAuthFailure(.invalidRequest, "response_type is missing") }
        guard type == "code" else { throw OAuthFailure(.unsupportedResponseType, "only response_type=code") }
        guard form["response_mode"] ?? "query" == "query" else {
            throw OAuthFailure(.invalidRequest, "only response_mode=query")
        }
        guard let challenge = form["code_challenge"] else {
            throw OAuthFailure(.invalidRequest, "code_challenge is missing; PKCE is required")
        }
        guard form["code_challenge_method"] == "S256", ProofKey.isChallenge(challenge) else {
            throw OAuthFailure(.invalidRequest, "code_challenge_method must be S256, with 43 base64url characters")
        }
        let scopes = scopeList(form["scope"] ?? "")
        guard !scopes.isEmpty else { throw OAuthFailure(.invalidScope, "scope is missing") }
        if let unknown = scopes.first(where: { !known.contains($0) }) {
            throw OAuthFailure(.invalidScope, "unknown scope \(unknown)")
        }
        clientID = client.id
        self.redirectURI = redirectURI
        self.scopes = scopes
        state = form["state"]
        nonce = form["nonce"]
        self.challenge = challenge
        prompts = try Self.prompts(form["prompt"])
        maxAge = try Self.maxAge(form["max_age"])
        loginHint = form["login_hint"]
        idTokenHint = form["id_token_hint"]
    }

    private static func prompts(_ text: String?) throws(OAuthFailure) -> Set<Prompt> {
        var prompts: Set<Prompt> = []
        for word in (text ?? "").split(separator: " ") {
            guard let prompt = Prompt(rawValue: String(word)) else {
                throw OAuthFailure(.invalidRequest, "unknown prompt \(word)")
            }
            prompts.insert(prompt)
        }
        if prompts.contains(.none), prompts.count > 1 {
            throw OAuthFailure(.invalidRequest, "prompt=none goes with no other prompt")
        }
        return prompts
    }

    private static func maxAge(_ text: String?) throws(OAuthFailure) -> Int? {
        guard let text else { return nil }
        guard let seconds = Int(text), seconds >= 0 else {
            throw OAuthFailure(.invalidRequest, "max_age must be a number of seconds")
        }
        return seconds
    }
}

/// Space-delimited scopes (RFC 6749, section 3.3), each once, in the order given.
func scopeList(_ text: String) -> [String] {
    text.split(separator: " ").reduce(into: []) { list, scope in
        if !list.contains(String(scope)) { list.append(String(scope)) }
    }
}
