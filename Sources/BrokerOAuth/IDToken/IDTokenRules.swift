import BrokerModel
import BrokerValues

/// The required contents of an ID token (OpenID Connect Core, section 3.1.3.7).
struct IDTokenRules {
    let issuer: IssuerRule
    let expectation: IDTokenExpectation
    let now: NumericDate
    /// The required value of `at_hash`, if it is present; `nil` if no access token was issued.
    var accessTokenHash: ExactText?

    /// The accepted difference from the provider's clock, in seconds.
    static let clockSkew: NumericDate = 300

    enum Violation: Error, Equatable {
        case issuer(String, asked: String)
        case subject
        case audience
        case authorizedParty
        case expired
        case expiryMissing
        case issueTimeMissing
        case fromTheFuture
        case nonce
        case accessToken

        var clause: String {
            switch self {
            case .issuer(let named, let asked):
                "it comes from \(SafeText(named, atMost: 200).text), and \(asked) was asked"
            case .subject: "it names no subject"
            case .audience: "it is not meant for this client"
            case .authorizedParty: "it was issued to another client"
            case .expired: "it has expired"
            case .expiryMissing: "it does not say when it expires"
            case .issueTimeMissing: "it does not say when it was issued"
            case .fromTheFuture: "it is not valid yet"
            case .nonce: "it does not belong to this sign-in"
            case .accessToken: "it belongs to another access token"
            }
        }

        /// Advice for the user. If the clock is wrong, another sign-in would fail in the same way.
        var advice: String {
            switch self {
            case .expired, .fromTheFuture: "Check this machine's clock; if it is right, ask the provider's operator."
            case .issuer: "If the provider was renamed, register its apps anew with the new name as their authority."
            default: Self.usualAdvice
            }
        }

        static let usualAdvice = "Sign in again; if this persists, ask the provider's operator."
    }

    func check(_ claims: JSONObject) throws(Violation) -> IDTokenClaims {
        guard let named = claims["iss"]?.exactText, issuer.accepts(named, tenant: claims["tid"]?.stringValue) else {
            throw .issuer(claims["iss"]?.stringValue ?? "nobody", asked: issuer.issuer.text)
        }
        guard let subject = claims["sub"]?.exactText, !subject.text.isEmpty else { throw .subject }
        try checkAudience(claims)
        try checkTimes(claims)
        try checkNonce(claims["nonce"])
        if let accessTokenHash, let named = claims["at_hash"], named != .null {
            guard named.exactText == accessTokenHash else { throw .accessToken }
        }
        return IDTokenClaims(issuer: issuer.full(named), subject: subject, all: claims)
    }

    private func checkNonce(_ nonce: JSONValue?) throws(Violation) {
        if let expected = expectation.nonce {
            guard nonce?.exactText == expected else { throw .nonce }
        } else if let earlier = expectation.earlierNonce, let nonce, nonce != .null {
            guard nonce.exactText == earlier else { throw .nonce }
        }
    }

    private func checkAudience(_ claims: JSONObject) throws(Violation) {
        let audiences: [ExactText]
        switch claims["aud"] {
        case .string(let one): audiences = [ExactText(one)]
        case .array(let several): audiences = several.compactMap(\.exactText)
        default: throw .audience
        }
        guard audiences.contains(expectation.clientID) else { throw .audience }
        // A claim that names the authorized party must name us. With several audiences it should be present, but some
        // providers omit it; the token came from the token endpoint, in answer to this client.
        switch claims["azp"] {
        case nil, .null: break
        case let party?:
            guard party.exactText == expectation.clientID else { throw .authorizedParty }
        }
    }

    private func checkTimes(_ claims: JSONObject) throws(Violation) {
        // Numbers: text is no NumericDate (RFC 7519, section 2).
        guard let expiry = claims["exp"]?.integerValue else { throw .expiryMissing }
        guard now < expiry.addingClamped(Self.clockSkew) else { throw .expired }
        guard let issued = claims["iat"]?.integerValue else { throw .issueTimeMissing }
        guard issued <= now + Self.clockSkew else { throw .fromTheFuture }
        if let start = claims["nbf"] {
            guard let start = start.integerValue, start <= now + Self.clockSkew else { throw .fromTheFuture }
        }
    }
}

extension NumericDate {
    fileprivate func addingClamped(_ other: NumericDate) -> NumericDate {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
