import BrokerValues

package enum ListGrants: AdministrationMethod {
    package static let name = "grants.list"
    package static let summary = "What callers were allowed, and what they ask for."
    package static let description = "The oldest first. Requests are open for an hour, and until the broker stops."
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "grants"

    package struct Params: ParamsObject {
        package var app: String?
        package init() {}
        package init(app: String?) { self.app = app }
        package static let members: [Member<Params>] = [
            .optional("app", \.app, "Of this app only.", .name(atMost: 4096))
        ]
    }

    package struct Result: MessageObject {
        package var grants: [Grant] = []
        package var requests: [GrantRequest] = []
        package init() {}
        package init(grants: [Grant], requests: [GrantRequest]) {
            self.grants = grants
            self.requests = requests
        }
        package static let members: [Member<Result>] = [
            .required("grants", \.grants, "What counts now."),
            .required("requests", \.requests, "What waits for an answer."),
        ]
    }
}
