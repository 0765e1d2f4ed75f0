import BrokerValues

package enum Subscribe: AppOrPersonalMethod {
    package static let name = "broker.subscribe"
    package static let summary = "Sends events to this connection, as notifications event.TOPIC."
    package static let description = """
        Lasts as long as the connection; subscribing again replaces the topics. With an app: its events, \
        and those of the apps of its group that the caller may use without a prompt. Without one: all of the person's, for the person's own tools. Events carry no token. A client that does \
        not read them is disconnected when 8 MiB are pending. Events of grants are sent to subscribers without an app.
        """
    package static let worksLocked = true
    package static let right: SandboxRight? = .accounts
    package static let errors: [ErrorKind] = [.appNotFound, .accessDenied, .grantRequired]
    package static let resultName = "subscription"

    package struct Params: OptionalAppParams {
        package var topics: [EventTopic] = []
        package var selection = AppSelection()

        package var reach: AppReach { .everything }

        package init() {}
        package init(_ topics: [EventTopic], of app: AppReference? = nil) {
            self.topics = topics
            selection = AppSelection(app)
        }

        package static let members: [Member<Params>] =
            [.required("topics", \.topics, "The topics to subscribe to; an empty list ends the subscription.")]
            + appMembers(\.selection)
    }

    package struct Result: MessageObject {
        package var subscribed: [EventTopic] = []
        package init() {}
        package init(subscribed: [EventTopic]) { self.subscribed = subscribed }
        package static let members: [Member<Result>] = [
            .required("subscribed", \.subscribed, "The subscribed topics.")
        ]
    }
}

extension EventTopic: WireChoice {}
extension AccountChange: WireChoice {}
extension TokenChange: WireChoice {}
extension InteractionChange: WireChoice {}
