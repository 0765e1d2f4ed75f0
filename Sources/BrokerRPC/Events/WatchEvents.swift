import BrokerValues

package enum TokenChanged: BrokerNotification {
    package static let name = "event.tokenChanged"
    package static let summary = "A watch has a new token. Sent after token.watch."

    package struct Params: MessageObject {
        package var watch = ""
        package var token = Token()

        package init() {}

        package static let members: [Member<Params>] = [
            .required("watch", \.watch, "As token.watch answered it."),
            .required("token", \.token, "Takes the place of the last one."),
        ]
    }
}

package enum TokenEnded: BrokerNotification {
    package static let name = "event.tokenEnded"
    package static let summary = "A watch is over, and why. Sent after token.watch, once."

    package struct Params: MessageObject {
        package var watch = ""
        package var error = RPCError()

        package init() {}

        package init(watch: String, _ error: RPCError) {
            self.watch = watch
            self.error = error
        }

        package static let members: [Member<Params>] = [
            .required("watch", \.watch, "As token.watch answered it."),
            .required("error", \.error, "What token.acquireSilent would be answered with."),
        ]
    }
}
