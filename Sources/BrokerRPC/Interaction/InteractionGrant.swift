import BrokerValues

package enum InteractionGrant: BrokerNotification {
    package static let name = "interaction.grant"
    package static let summary = """
        Sent to a client whose request has waitForGrant: the person is asked whether it may use the app. Its request continues \
        when they agree.
        """

    package struct Params: MessageObject {
        package var grantRequest = ""
        package var app = ""
        package var caller = ""
        package var message = ""
        package var expiresOn: NumericDate = 0
        package var correlationId = ""

        package init() {}

        package static let members: [Member<Params>] = [
            .required("grantRequest", \.grantRequest, "The id for brokerctl grants approve."),
            .required("app", \.app, "The requested app."),
            .required("caller", \.caller, "The caller, as the broker sees it."),
            .required("message", \.message, "The instruction for the person, in one sentence."),
            .required("expiresOn", \.expiresOn, "Seconds since 1970; the request stops waiting then."),
            .required(
                "correlationId", \.correlationId, "The correlation id of the request concerned."),
        ]
    }
}
