import BrokerValues

package enum InteractionDeviceCode: BrokerNotification {
    package static let name = "interaction.deviceCode"
    package static let summary = """
        Sent on the connection of a token.acquireByDeviceCode, before its answer: the client shows code and URL to the \
        person.
        """

    package typealias Params = DeviceCodeOpening
}

extension DeviceCodeOpening: MessageObject {
    package init() {
        self.init(
            interactionID: "", userCode: "", verificationURI: "", verificationURIComplete: nil, expiresOn: 0,
            interval: 0,
            message: "", correlationID: "")
    }

    package static let members: [Member<DeviceCodeOpening>] = [
        .required("interactionId", \.interactionID, "For interaction.cancel."),
        .required("userCode", \.userCode, "The code that the person types."),
        .required("verificationUri", \.verificationURI, "The page on which they type it, on any device."),
        .optional(
            "verificationUriComplete", \.verificationURIComplete,
            "The same with the code in it, for a QR code or a link."),
        .optional(
            "otherHost", \.otherHost,
            "The host of that page, where it is not the provider's own: name it to the person."),
        .required("expiresOn", \.expiresOn, "Seconds since 1970; the sign-in ends then."),
        .required("interval", \.interval, "Seconds between two questions of the broker to the provider."),
        .required("message", \.message, "The instruction for the person, in one sentence."),
        .required(
            "correlationId", \.correlationID, "The correlation id of the request concerned."),
    ]
}
