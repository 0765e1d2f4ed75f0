import BrokerValues

package enum UnwatchToken: PersonMethod {
    package static let name = "token.unwatch"
    package static let summary = "Ends a watch of this connection."
    package static let description = """
        No event.tokenEnded follows. An event.tokenChanged that was already on its way may still arrive.
        """
    package static let worksLocked = true
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = []
    package static let resultName = "end"

    package struct Params: ParamsObject {
        package var watch = ""
        package init() {}
        package init(watch: String) { self.watch = watch }
        package static let members: [Member<Params>] = [
            .required("watch", \.watch, "The watch's name from token.watch.", .text(atMost: 64))
        ]
    }

    package struct Result: MessageObject {
        package var unwatched = false
        package init() {}
        package init(unwatched: Bool) { self.unwatched = unwatched }
        package static let members: [Member<Result>] = [
            .required("unwatched", \.unwatched, "False if this connection has no such watch (any more).")
        ]
    }
}
