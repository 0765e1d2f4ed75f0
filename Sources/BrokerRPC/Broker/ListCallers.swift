import BrokerValues

package enum ListCallers: AdministrationMethod {
    package static let name = "broker.callers"
    package static let summary = "The connected callers, with the facts that identified them."
    package static let description = "One entry a connection, the oldest first."
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "callers"
    package typealias Params = Empty

    package struct Result: MessageObject {
        package var callers: [ConnectedCaller] = []
        package init() {}
        package init(callers: [ConnectedCaller]) { self.callers = callers }
        package static let members: [Member<Result>] = [
            .required("callers", \.callers, "As identified when they connected.")
        ]
    }

    package struct ConnectedCaller: MessageObject, Equatable {
        package var identity = CallerIdentity()
        package var administers = false
        package var facts: CallerFacts = [:]

        package init() {}
        package init(_ identity: CallerIdentity, administers: Bool, facts: CallerFacts) {
            self.identity = identity
            self.administers = administers
            self.facts = facts
        }

        package static let componentName: String? = "ConnectedCaller"
        package static let members: [Member<ConnectedCaller>] =
            CallerIdentity.members.inside(\.identity) + [
                .required("administers", \.administers, "Whether it may administer more than one app."),
                .required("facts", \.facts, "The facts that identified it."),
            ]
    }
}
