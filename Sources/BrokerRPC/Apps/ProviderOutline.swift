import BrokerValues

/// The part of a provider's metadata that helps a person who registers an app there.
package struct ProviderOutline: MessageObject, Equatable {
    package var issuer = ""
    package var offers: [String] = []

    package init() {}
    package init(issuer: String, offers: [String]) {
        self.issuer = issuer
        self.offers = offers
    }

    package static let members: [Member<ProviderOutline>] = [
        .required("issuer", \.issuer, "The issuer of its tokens."),
        .required(
            "offers", \.offers,
            """
            Those of `device_authorization`, `revocation`, `end_session`, `pushed_authorization_request`, `registration` and \
            `dpop` that it supports.
            """),
    ]
}
