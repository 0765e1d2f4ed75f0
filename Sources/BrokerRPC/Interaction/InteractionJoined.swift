import BrokerValues

package enum InteractionJoined: BrokerNotification {
    package static let name = "interaction.joined"
    package static let summary = """
        Sent instead of interaction.open when another request that asks the same has the window: there is nothing to \
        open, and that window's outcome is this request's answer, too.
        """

    package struct Params: MessageObject {
        package var interactionId = ""
        package var expiresOn: NumericDate = 0
        package var correlationId = ""

        package init() {}

        package init(interactionId: String, expiresOn: NumericDate, correlationId: String) {
            self.interactionId = interactionId
            self.expiresOn = expiresOn
            self.correlationId = correlationId
        }

        package static let members: [Member<Params>] = [
            .required(
                "interactionId", \.interactionId,
                "For interaction.cancel, which ends the sign-in for everybody who waits for it."),
            .required("expiresOn", \.expiresOn, "Seconds since 1970; this request stops waiting then."),
            .required(
                "correlationId", \.correlationId, "The request's correlation id: says which request this is about."),
        ]
    }
}
