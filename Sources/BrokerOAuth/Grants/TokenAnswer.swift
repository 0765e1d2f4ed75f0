import BrokerModel
import BrokerValues

/// Reads the answer of a token endpoint (RFC 6749, section 5).
struct TokenAnswer {
    let answer: EndpointAnswer
    let grant: TokenGrant
    /// Whether a proof of a key went along.
    let isProven: Bool

    func read() throws(ProviderError) -> TokenResponse {
        if let refusalWithoutReason { throw refusalWithoutReason }
        do throws(ProviderError) {
            return try token(in: answer.object(statuses: [200, 201], expected: "a token or an OAuth error"))
        } catch {
            throw keepingRefreshToken(error)
        }
    }

    /// A refresh token that was rotated is the only one that is left, whatever else is wrong with the answer.
    private func keepingRefreshToken(_ error: ProviderError) -> ProviderError {
        guard (200..<300).contains(answer.response.status), case .invalidResponse(_, let message) = error,
            let object = answer.object, let refreshToken = object.secret("refresh_token"),
            refreshToken.consists(of: Self.printable)
        else { return error }
        return .unusableTokens(
            RejectedTokenResponse(
                refreshToken: refreshToken, tokenType: tokenType(in: object), status: answer.response.status,
                message: message))
    }

    /// What is no scope (RFC 6749, section 3.3) is left out: it could only mislead whoever is shown it.
    private static func scopes(in parameter: String) -> String {
        func isScopeCharacter(_ byte: UInt8) -> Bool {
            visible.contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        return parameter.utf8.split { $0 == 0x20 || (0x09...0x0d).contains($0) }
            .filter { $0.allSatisfy(isScopeCharacter) }.map { String(Substring($0)) }.joined(separator: " ")
    }

    /// RFC 6749, appendix A.17: `VSCHAR`.
    private static let printable: ClosedRange<UInt8> = 0x20...0x7e
    /// Without the blank, which would end the token in the header that it goes into (RFC 6750, section 2.1). The section
    /// allows fewer characters still; some providers use others.
    private static let visible: ClosedRange<UInt8> = 0x21...0x7e

    private func tokenType(in object: JSONObject) -> TokenType? {
        guard let name = object["token_type"]?.stringValue?.lowercased() else { return nil }
        return TokenType.allCases.first { $0.rawValue.lowercased() == name }
    }

    private func token(in object: JSONObject) throws(ProviderError) -> TokenResponse {
        guard let accessToken = object.secret("access_token") else {
            throw answer.incomplete("holds no access token")
        }
        for (name, allowed) in [
            ("access_token", Self.visible), ("refresh_token", Self.printable), ("id_token", Self.visible),
        ] {
            guard object.secret(name)?.consists(of: allowed) ?? true else {
                throw answer.incomplete("holds characters in its \(name) that no token has")
            }
        }
        // Some providers leave it out. Then it is what was asked for, unless that is a binding which nobody confirms.
        let isUntyped = (object["token_type"] ?? .null) == .null && !isProven
        guard let type = tokenType(in: object) ?? (isUntyped ? .bearer : nil) else {
            // RFC 6749, section 7.1: a token of a type that is not understood must not be used.
            throw answer.incomplete("is of a type that the broker does not know")
        }
        guard type != .dpop || isProven else {
            throw answer.incomplete("is bound to a key, which was not asked for")
        }
        return TokenResponse(
            accessToken: accessToken,
            tokenType: type,
            expiresIn: object.duration("expires_in"),
            extendedExpiresIn: object.duration("ext_expires_in"),
            refreshIn: object.duration("refresh_in"),
            refreshToken: object.secret("refresh_token"),
            idToken: object.secret("id_token"),
            scope: (object["scope"]?.stringValue ?? object["scope"]?.strings?.joined(separator: " ")).map(Self.scopes),
            familyID: object["foci"]?.stringValue ?? object["foci"]?.integerValue.map(String.init),
            clientInfo: object["client_info"]?.stringValue)
    }

    /// A refusal without a word: real providers answer a dead refresh token with 400 and nothing, a wrong code also with 403
    /// and nothing.
    private var refusalWithoutReason: ProviderError? {
        let response = answer.response
        guard response.body.allSatisfy({ $0 == 0x20 || (0x09...0x0d).contains($0) }) else { return nil }
        switch (grant, response.status) {
        case (.refreshToken, 400):
            return .refusedWithoutReason(
                status: 400,
                "The provider \(answer.server) refused the saved sign-in and gave no reason. Try again; if it stays so, sign in "
                    + "again.")
        // A code is short-lived: nothing is lost by taking it for a wrong one.
        case (.authorizationCode, 400), (.authorizationCode, 403), (.deviceCode, 400), (.deviceCode, 403):
            return .refused(
                OAuthRefusal(
                    error: "invalid_grant", description: "The provider gave no reason.", status: response.status))
        default: return nil
        }
    }
}
