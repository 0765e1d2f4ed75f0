import BrokerModel
import BrokerValues

/// The part of a provider's response that is common to all endpoints.
struct EndpointAnswer {
    let response: HTTPResponse
    /// The body, parsed once.
    let content: Result<JSONObject, JSONReader.Malformed>
    let server: String
    let now: NumericDate
    /// The request's body.
    let sent: Secret?

    /// The JSON object in the body, regardless of the status; `nil` if there is none.
    var object: JSONObject? { try? content.get() }

    /// The JSON object of a successful response.
    ///
    /// - Parameters:
    ///   - statuses: those that count as success.
    ///   - expected: names the expected content in the error's text.
    func object(statuses: Set<Int>, expected: String) throws(ProviderError) -> JSONObject {
        if let pollingRefusal { throw .refused(pollingRefusal) }
        if let unavailable = ProviderError.unavailable(response, server: server, now: now) { throw unavailable }
        let answer: JSONObject
        switch content {
        case .success(let object): answer = object
        case .failure(let malformed):
            throw .unexpected(response, server: server, expected: "JSON", unreadable: malformed)
        }
        // Some providers send errors with status 200.
        if let refusal = refusal(in: answer) { throw .refused(refusal) }
        guard statuses.contains(response.status) else {
            throw .unexpected(response, server: server, expected: expected)
        }
        return answer
    }

    /// The OAuth error in an answer. At an address that is no endpoint, a web framework describes the status in the
    /// same member ("Not Found"): only the standard's own codes count there.
    private func refusal(in object: JSONObject) -> OAuthRefusal? {
        let refusal = OAuthRefusal(answer: object, status: response.status, to: sent)
        guard [404, 405, 410].contains(response.status) else { return refusal }
        return refusal.flatMap { Self.standardCodes.contains($0.error) ? $0 : nil }
    }

    /// RFC 6749, sections 4.1.2.1 and 5.2; RFC 8628, section 3.5, without those of ``pollingRefusal``; RFC 8707, section 2;
    /// OpenID Connect Core, section 3.1.2.6.
    private static let standardCodes: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "access_denied", "server_error", "temporarily_unavailable", "expired_token",
        "invalid_target", "interaction_required", "login_required", "consent_required",
    ]

    /// RFC 8628, section 3.5: the refusal of a poll while the user is not done. Some providers send it with status 429,
    /// which adds nothing.
    private var pollingRefusal: OAuthRefusal? {
        guard let object, let error = object["error"]?.stringValue,
            ["slow_down", "authorization_pending"].contains(error)
        else { return nil }
        var refusal = OAuthRefusal(answer: object, status: response.status, to: sent)
        refusal?.retryAfter = RetryAfter.seconds(response.header("retry-after"), now: now)
        return refusal
    }

    /// - Parameter what: a clause: "names no code".
    func incomplete(_ what: String) -> ProviderError {
        .invalidResponse(status: response.status, "The answer of \(server) \(what). Ask the provider's operator.")
    }
}

extension OAuthRefusal {
    /// An error response (RFC 6749, section 5.2), its texts made safe for display and logs; `nil` if it is none.
    ///
    /// Some providers send an object in place of the code, or a list of objects; the code and the description are in the first.
    ///
    /// - Parameter sent: the request's body: its secrets are removed from the texts.
    init?(answer: JSONObject, status: Int, to sent: Secret?) {
        let inner = answer["error"]?.objectValue ?? answer["errors"]?.arrayValue?.first?.objectValue
        let code = ["error", "code", "type", "status"].lazy.compactMap { inner?[$0]?.stringValue }.first
        // An empty code is no code (RFC 6749, section 5.2).
        guard let error = [answer["error"]?.stringValue, code].compactMap(\.self).first(where: { !$0.isEmpty }) else {
            return nil
        }
        let description = ["error_description", "message", "description"].lazy
            .compactMap { (inner ?? answer)[$0]?.stringValue }.first
        self.init(
            error: SafeText(Redaction.hidden(error, of: sent), atMost: 80).text,
            subError: answer["suberror"]?.stringValue.map { SafeText(Redaction.hidden($0, of: sent), atMost: 80).text },
            description: description.map { SafeText(Redaction.hidden($0, of: sent), atMost: 400).text },
            status: status,
            claims: answer["claims"]?.stringValue.flatMap(Self.claims),
            errorCodes: answer["error_codes"]?.arrayValue?.prefix(16).compactMap(\.integerValue) ?? [])
    }

    /// Users paste a challenge into commands, so only a JSON object is kept.
    private static func claims(_ text: String) -> String? {
        text.utf8.count <= 8192 && JSONObject(json: text.utf8) != nil ? text : nil
    }
}

extension JSONObject {
    /// A text that is present and not empty.
    func secret(_ name: String) -> Secret? {
        self[name]?.stringValue.flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// Seconds: never negative, and never so large that adding them to a time could overflow.
    func duration(_ name: String) -> Int64? {
        self[name]?.seconds.map { Swift.min(Swift.max($0, 0), 100 * 365 * 86_400) }
    }
}

extension JSONValue {
    /// Whole seconds, which some providers send as a string.
    var seconds: Int64? {
        if let integer = integerValue { return integer }
        guard let text = stringValue, let number = Double(text), number.magnitude < 0x1p62 else { return nil }
        return Int64(number)
    }

    var strings: [String]? { arrayValue.map { $0.compactMap(\.stringValue) } }
}

extension Secret {
    func consists(of allowed: ClosedRange<UInt8>) -> Bool { withBytes { $0.allSatisfy(allowed.contains) } }
}

/// Some servers repeat the request in an error ("wrong client for this refresh token: …"). Logs and apps get that text as the
/// provider's message.
private enum Redaction {
    private static let secrets = [
        "refresh_token", "code", "code_verifier", "client_secret", "client_assertion", "device_code", "token",
        "id_token_hint",
    ]
    /// Shorter ones would be found in words.
    private static let shortest = 8
    /// More than is shown of any error text.
    private static let most = 16_384

    static func hidden(_ text: String, of sent: Secret?) -> String {
        guard let sent else { return text }
        let fields = sent.withBytes { RedirectParameters(query: Substring(decoding: $0, as: UTF8.self)) }
        let beginning = String(text.unicodeScalars.prefix(most))
        return secrets.compactMap { fields[$0] }.filter { $0.utf8.count >= shortest }.reduce(beginning) {
            $0.replacing(text: $1, with: "…")
        }
    }
}
