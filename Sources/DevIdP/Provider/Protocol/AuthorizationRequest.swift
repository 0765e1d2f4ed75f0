/// A checked request for a person's authorization: from the browser (RFC 6749, section 4.1.1; OpenID Connect Core,
/// section 3.1.2.1), or from a device without one (RFC 8628, section 3.1).
struct AuthorizationRequest: Sendable {
    enum Prompt: String, Sendable, CaseIterable {
        case none
        case login
        case consent
        case selectAccount = "select_account"
        /// Initiating User Registration via OpenID Connect 1.0.
        case create
    }

    /// How the outcome reaches the client.
    enum Channel: Sendable {
        case redirect(RedirectTarget)
        case device(userCode: String)
    }

    struct RedirectTarget: Sendable {
        var uri: String
        var state: String?
        /// PKCE, S256.
        var challenge: String
        /// Thumbprint of the key that will redeem the code (RFC 9449, section 10).
        var proofKey: String?
        /// OAuth 2.0 Form Post Response Mode.
        var takesForm = false
    }

    var realm: Realm
    var clientID: String
    var channel: Channel
    var scopes: [String]
    /// RFC 8707.
    var resources: [String]
    var nonce: String?
    var prompts: Set<Prompt> = []
    /// Seconds since the person last typed a password.
    var maxAge: Int?
    var acrValues: [String] = []
    var claims = ClaimsRequest.none
    var loginHint: String?
    var domainHint: String?
    var idTokenHint: String?
    /// Entra: the person may belong to another cloud, which the response then names.
    var isInstanceAware = false
    /// The original parameters.
    var form: FormValues
}

/// The target of a refusal: without a client and a matching redirect URI no redirect is allowed, so the person sees a
/// page (RFC 6749, section 4.1.2.1); everything else is returned to the client.
enum AuthorizationRefusal: Error, Sendable {
    case page(String)
    case redirect(to: String, state: String?, Realm, OAuthFailure)
}

extension AuthorizationRequest {
    init(
        _ form: FormValues, realm: Realm, client find: (String) -> ProviderClient?, takesScope: (String) -> Bool
    ) throws(AuthorizationRefusal) {
        for name in ["client_id", "redirect_uri"] where form.repeated.contains(name) {
            throw .page("The request names \(name) more than once.")
        }
        guard let clientID = form["client_id"] else { throw .page("The request names no client_id.") }
        guard let client = find(clientID) else {
            throw .page("No client is registered under the id \"\(clientID)\".")
        }
        guard let uri = form["redirect_uri"] else { throw .page("The request names no redirect_uri.") }
        guard RedirectURIRules.accepts(uri, registered: client.redirectURIs) else {
            throw .page("The redirect URI \"\(uri)\" is not registered for the client \"\(clientID)\".")
        }
        do throws(OAuthFailure) {
            let channel = Channel.redirect(try Self.target(form, uri: uri))
            self = try AuthorizationRequest(
                form, realm: realm, clientID: clientID, channel: channel, takesScope: takesScope)
        } catch {
            throw .redirect(to: uri, state: form["state"], realm, error)
        }
    }

    /// The part that every channel shares.
    init(
        _ form: FormValues, realm: Realm, clientID: String, channel: Channel, takesScope: (String) -> Bool
    ) throws(OAuthFailure) {
        let scopes = scopeList(form["scope"] ?? "")
        guard !scopes.isEmpty else { throw OAuthFailure(.invalidScope, "scope is missing") }
        if let unknown = scopes.first(where: { !takesScope($0) }) {
            throw OAuthFailure(.invalidScope, "unknown scope \(unknown)")
        }
        self.realm = realm
        self.clientID = clientID
        self.channel = channel
        self.scopes = scopes
        resources = try resourceList(form)
        nonce = form["nonce"]
        prompts = try Self.prompts(form["prompt"])
        maxAge = try Self.maxAge(form["max_age"])
        acrValues = scopeList(form["acr_values"] ?? "")
        claims = try ClaimsRequest(form["claims"])
        loginHint = form["login_hint"]
        domainHint = form["domain_hint"]
        idTokenHint = form["id_token_hint"]
        isInstanceAware = form["instance_aware"]?.lowercased() == "true"
        self.form = form
    }

    private static func target(_ form: FormValues, uri: String) throws(OAuthFailure) -> RedirectTarget {
        if let name = form.repeatedByMistake { throw OAuthFailure(.invalidRequest, "\(name) came more than once") }
        if form["request"] != nil { throw OAuthFailure(.requestNotSupported, "request objects are not taken") }
        if form["request_uri"] != nil { throw OAuthFailure(.requestURINotSupported, "only pushed requests are taken") }
        guard let type = form["response_type"] else { throw OAuthFailure(.invalidRequest, "response_type is missing") }
        guard type == "code" else { throw OAuthFailure(.unsupportedResponseType, "only response_type=code") }
        let mode = form["response_mode"] ?? "query"
        guard mode == "query" || mode == "form_post" else {
            throw OAuthFailure(.invalidRequest, "only response_mode=query and form_post")
        }
        guard let challenge = form["code_challenge"] else {
            throw OAuthFailure(.invalidRequest, "code_challenge is missing; PKCE is required")
        }
        guard form["code_challenge_method"] == "S256", ProofKey.isChallenge(challenge) else {
            throw OAuthFailure(.invalidRequest, "code_challenge_method must be S256, with 43 base64url characters")
        }
        return RedirectTarget(
            uri: uri, state: form["state"], challenge: challenge, proofKey: form["dpop_jkt"],
            takesForm: mode == "form_post")
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

/// The resources a request names: absolute URIs without a fragment (RFC 8707, section 2).
func resourceList(_ form: FormValues) throws(OAuthFailure) -> [String] {
    let resources = form.all("resource").filter { !$0.isEmpty }
    for resource in resources where !resource.contains(":") || resource.contains("#") {
        throw OAuthFailure(.invalidTarget, "\(resource) is not an absolute URI without a fragment")
    }
    return resources
}
