import BrokerValues

/// The provider's claims about the user of a token (OpenID Connect Core, section 5.3.2).
package struct UserInfo: Sendable, Equatable {
    package var subject: ExactText
    package var claims: JSONObject

    package init(subject: ExactText, claims: JSONObject) {
        self.subject = subject
        self.claims = claims
    }
}
