import BrokerValues

package enum InteractionGrant: BrokerNotification {
    package static let name = "interaction.grant"
    package static let summary = """
        Sent to a client whose request has waitForGrant: the person is asked whether it may use the app. Its request goes on \
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
            .required("grantRequest", \.grantRequest, "What brokerctl grants approve takes."),
            .required("app", \.app, "The app that is asked for."),
            .required("caller", \.caller, "The caller, as the broker sees it."),
            .required("message", \.message, "One sentence for the person: what to do."),
            .required("expiresOn", \.expiresOn, "Seconds since 1970; the request stops waiting then."),
            .required(
                "correlationId", \.correlationId, "The request's correlation id: says which request this is about."),
        ]
    }
}
