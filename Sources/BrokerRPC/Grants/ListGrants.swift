import BrokerValues

package enum ListGrants: AdministrationMethod {
    package static let name = "grants.list"
    package static let summary = "Grants to callers, and their pending requests."
    package static let description = "The oldest first. Requests are open for an hour, and until the broker stops."
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "grants"

    package struct Params: ParamsObject {
        package var app: String?
        package init() {}
        package init(app: String?) { self.app = app }
        package static let members: [Member<Params>] = [
            .optional("app", \.app, "Only those of this app.", .name(atMost: 4096))
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
            .required("grants", \.grants, "The grants in force."),
            .required("requests", \.requests, "The pending requests."),
        ]
    }
}
