import BrokerValues

package enum GrantNotification: BrokerNotification {
    package static let name = "event.grant"
    package static let summary =
        "A caller requests an app, or was answered, or lost its grant. Sent after broker.subscribe."

    package struct Params: MessageObject {
        package var change: GrantChange?
        package var request: GrantRequest?
        package var grant: Grant?

        package init() {}
        package init(_ change: GrantChange, request: GrantRequest?, grant: Grant?) {
            self.change = change
            self.request = request
            self.grant = grant
        }

        package static let members: [Member<Params>] = [
            .open("change", \.change, "The kind of change."),
            .optional(
                "request", \.request,
                "The request: with requested, denied and expired, and with an approval that answers it."),
            .optional("grant", \.grant, "With approved and revoked."),
        ]
    }
}
