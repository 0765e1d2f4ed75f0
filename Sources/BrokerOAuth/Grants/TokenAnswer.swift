import BrokerModel
import BrokerValues

/// Reads the answer of a token endpoint (RFC 6749, section 5).
struct TokenAnswer {
    let response: HTTPResponse
    let server: String
    let grant: TokenGrant
    /// Whether a proof of a key went along.
    let isProven: Bool
    let now: NumericDate

    func read() throws(ProviderError) -> TokenResponse {
        if let unavailable = ProviderError.unavailable(response, server: server, now: now) { throw unavailable }
        guard let answer = JSONObject(json: response.body) else { throw withoutJSON() }
        // Some providers send errors with status 200.
        if let refusal = OAuthRefusal(answer: answer, status: response.status) { throw .refused(refusal) }
        guard response.status == 200 else {
            throw .unexpected(response, server: server, expected: "a token or an OAuth error")
        }
        return try token(in: answer)
    }

    private func token(in answer: JSONObject) throws(ProviderError) -> TokenResponse {
        guard let accessToken = answer.secret("access_token") else {
            throw incomplete("holds no access token")
        }
        guard let typeName = answer["token_type"]?.stringValue,
            let type = TokenType.allCases.first(where: { $0.rawValue.lowercased() == typeName.lowercased() })
        else {
            // RFC 6749, section 7.1: a token of a type that is not understood must not be used.
            throw incomplete("is of a type that the broker does not know")
        }
        guard type != .dpop || isProven else {
            throw incomplete("is bound to a key, which was not asked for")
        }
        return TokenResponse(
            accessToken: accessToken,
            tokenType: type,
            expiresIn: answer.duration("expires_in"),
            extendedExpiresIn: answer.duration("ext_expires_in"),
            refreshIn: answer.duration("refresh_in"),
            refreshToken: answer.secret("refresh_token"),
            idToken: answer.secret("id_token"),
            scope: answer["scope"]?.stringValue,
            familyID: answer["foci"]?.stringValue ?? answer["foci"]?.integerValue.map(String.init),
            clientInfo: answer["client_info"]?.stringValue)
    }

    private func incomplete(_ what: String) -> ProviderError {
        .invalidResponse(
            status: response.status, "The token answer of \(server) \(what). Ask who runs the provider.")
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
