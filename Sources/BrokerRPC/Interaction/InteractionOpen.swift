import BrokerValues

package enum InteractionOpen: BrokerNotification {
    package static let name = "interaction.open"
    package static let summary = """
        Sent on the connection of a token.acquireInteractive with presentation "client", before its answer: the client \
        opens the url in the person's browser.
        """

    package typealias Params = InteractionOpening
}

extension InteractionOpening: MessageObject {
    package init() {
        self.init(
            interactionID: "", url: "", redirectURI: "", expiresOn: 0, correlationID: "")
    }

    package static let members: [Member<InteractionOpening>] = [
        .required("interactionId", \.interactionID, "For interaction.cancel."),
        .required("url", \.url, "The URL for the browser."),
        .required("redirectUri", \.redirectURI, "The URL to which the provider redirects the browser."),
        .required("expiresOn", \.expiresOn, "Seconds since 1970; the sign-in ends then."),
        .required(
            "correlationId", \.correlationID, "The correlation id of the request concerned."),
    ]
}
