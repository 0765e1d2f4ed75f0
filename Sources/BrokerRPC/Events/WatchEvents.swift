import BrokerValues

package enum TokenChanged: BrokerNotification {
    package static let name = "event.tokenChanged"
    package static let summary = "A watch has a new token. Sent after token.watch."

    package struct Params: MessageObject {
        package var watch = ""
        package var token = Token()

        package init() {}

        package static let members: [Member<Params>] = [
            .required("watch", \.watch, "The watch's name from token.watch."),
            .required("token", \.token, "Replaces the previous one."),
        ]
    }
}

package enum TokenEnded: BrokerNotification {
    package static let name = "event.tokenEnded"
    package static let summary = "A watch has ended, with the reason. Sent after token.watch, once."

    package struct Params: MessageObject {
        package var watch = ""
        package var error = RPCError()

        package init() {}

        package init(watch: String, _ error: RPCError) {
            self.watch = watch
            self.error = error
        }

        package static let members: [Member<Params>] = [
            .required("watch", \.watch, "The watch's name from token.watch."),
            .required("error", \.error, "The error that token.acquireSilent would return."),
        ]
    }
}
