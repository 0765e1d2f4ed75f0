import BrokerValues

package enum InteractionDeviceCode: BrokerNotification {
    package static let name = "interaction.deviceCode"
    package static let summary = """
        Sent on the connection of a token.acquireByDeviceCode, before its answer: the client shows code and address to the \
        person.
        """

    package struct Params: MessageObject, Equatable {
        package var interactionId = ""
        package var userCode = ""
        package var verificationUri = ""
        package var verificationUriComplete: String?
        package var expiresOn: NumericDate = 0
        package var interval: Int64 = 0
        package var message = ""
        package var correlationId = ""

        package init() {}

        package static let members: [Member<Params>] = [
            .required("interactionId", \.interactionId, "For interaction.cancel."),
            .required("userCode", \.userCode, "What the person types."),
            .required("verificationUri", \.verificationUri, "Where they type it, on any device."),
            .optional(
                "verificationUriComplete", \.verificationUriComplete,
                "The same with the code in it, for a QR code or a link."),
            .required("expiresOn", \.expiresOn, "Seconds since 1970; the sign-in ends then."),
            .required("interval", \.interval, "Seconds between two questions of the broker to the provider."),
            .required("message", \.message, "What to do, in one sentence for the person."),
            .required(
                "correlationId", \.correlationId, "The request's correlation id: says which request this is about."),
        ]
    }
}
