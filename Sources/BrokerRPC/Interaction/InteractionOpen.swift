import BrokerValues

package enum InteractionOpen: BrokerNotification {
    package static let name = "interaction.open"
    package static let summary = """
        Sent on the connection of a token.acquireInteractive with presentation "client", before its answer: the client \
        opens the url in the person's browser.
        """

    package struct Params: MessageObject {
        package var interactionId = ""
        package var url = ""
        package var redirectUri = ""
        package var expiresOn: NumericDate = 0
        package var correlationId = ""

        package init() {}

        package init(
            interactionId: String, url: String, redirectUri: String, expiresOn: NumericDate, correlationId: String
        ) {
            self.interactionId = interactionId
            self.url = url
            self.redirectUri = redirectUri
            self.expiresOn = expiresOn
            self.correlationId = correlationId
        }

        package static let members: [Member<Params>] = [
            .required("interactionId", \.interactionId, "For interaction.cancel."),
            .required("url", \.url, "What the browser opens."),
            .required("redirectUri", \.redirectUri, "Where the provider sends the browser afterwards."),
            .required("expiresOn", \.expiresOn, "Seconds since 1970; the sign-in ends then."),
            .required(
                "correlationId", \.correlationId, "The request's correlation id: says which request this is about."),
        ]
    }
}
