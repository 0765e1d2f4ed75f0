import BrokerModel
import BrokerValues

/// Reads the answer of a token endpoint (RFC 6749, section 5).
struct TokenAnswer {
    let response: HTTPResponse
    let server: String
    let grant: TokenGrant
    let now: NumericDate

    func read() throws(ProviderError) -> TokenResponse {
        if let unavailable = ProviderError.unavailable(response, server: server, now: now) { throw unavailable }
        guard let answer = JSONReading.object(response.body) else { throw withoutJSON() }
        // Some providers send errors with status 200.
        if let error = answer["error"]?.stringValue { throw .refused(refusal(error, answer)) }
        guard response.status == 200 else {
            throw .unexpected(response, server: server, expected: "a token or an OAuth error")
        }
        return try token(in: answer)
    }

    private func token(in answer: JSONObject) throws(ProviderError) -> TokenResponse {
        guard let accessToken = secret("access_token", in: answer) else {
            throw incomplete("holds no access token")
        }
        guard let typeName = answer["token_type"]?.stringValue,
            let type = TokenType.allCases.first(where: { $0.rawValue.lowercased() == typeName.lowercased() })
        else {
            // RFC 6749, section 7.1: a token of a type that is not understood must not be used.
            throw incomplete("is of a type that the broker does not know")
        }
        return TokenResponse(
            accessToken: accessToken,
            tokenType: type,
            expiresIn: duration("expires_in", in: answer),
            extendedExpiresIn: duration("ext_expires_in", in: answer),
            refreshIn: duration("refresh_in", in: answer),
            refreshToken: secret("refresh_token", in: answer),
            idToken: secret("id_token", in: answer),
            scope: answer["scope"]?.stringValue,
            familyID: answer["foci"]?.stringValue ?? answer["foci"]?.integerValue.map(String.init),
            clientInfo: answer["client_info"]?.stringValue)
    }

    private func secret(_ name: String, in answer: JSONObject) -> Secret? {
        answer[name]?.stringValue.flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// Never negative, and never so large that adding it to a time could overflow.
    private func duration(_ name: String, in answer: JSONObject) -> Int64? {
        answer[name]?.seconds.map { min(max($0, 0), 100 * 365 * 86_400) }
    }

    private func incomplete(_ what: String) -> ProviderError {
        .invalidResponse(
            status: response.status, "The token answer of \(server) \(what). Ask who runs the provider.")
    }

    // MARK: Refusals

    private func refusal(_ error: String, _ answer: JSONObject) -> OAuthRefusal {
        OAuthRefusal(
            error: BoundedText(error, limit: 80).text,
            subError: answer["suberror"]?.stringValue.map { BoundedText($0, limit: 80).text },
            description: answer["error_description"]?.stringValue.map { BoundedText($0).text },
            status: response.status,
            claims: answer["claims"]?.stringValue.flatMap { $0.utf8.count <= 8192 ? $0 : nil },
            errorCodes: answer["error_codes"]?.arrayValue?.prefix(16).compactMap(\.integerValue) ?? [])
    }

    private func withoutJSON() -> ProviderError {
        if response.body.allSatisfy({ $0 == 0x20 || (0x09...0x0d).contains($0) }), isBareRefusal {
            return .refused(
                OAuthRefusal(
                    error: "invalid_grant", description: "The provider gave no reason.", status: response.status))
        }
        return .unexpected(response, server: server, expected: "JSON")
    }

    /// Real providers answer a dead refresh token with 400 and nothing, a wrong code also with 403 and nothing.
    private var isBareRefusal: Bool {
        switch grant {
        case .refreshToken: response.status == 400
        case .authorizationCode, .deviceCode: response.status == 400 || response.status == 403
        }
    }
}
