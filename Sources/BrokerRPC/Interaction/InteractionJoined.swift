import BrokerValues

package enum InteractionJoined: BrokerNotification {
    package static let name = "interaction.joined"
    package static let summary = """
        Sent instead of interaction.open if an equal request already has the window: there is nothing to \
        open, and that window's outcome is this request's answer, too.
        """

    package typealias Params = InteractionJoining
}

extension InteractionJoining: MessageObject {
    package init() {
        self.init(
            interactionID: "", expiresOn: 0, correlationID: "")
    }

    package static let members: [Member<InteractionJoining>] = [
        .required(
            "interactionId", \.interactionID,
            "For interaction.cancel, which ends the sign-in for all waiting requests."),
        .required("expiresOn", \.expiresOn, "Seconds since 1970; this request stops waiting then."),
        .required(
            "correlationId", \.correlationID, "The correlation id of the request concerned."),
    ]
}
