import BrokerValues

package enum DenyGrant: AdministrationMethod {
    package static let name = "grants.deny"
    package static let summary = "Refuses a caller's request."
    package static let description = """
        The person is not asked about it for a while: ten minutes, and twice as long after each refusal in a row, up to a day. Until then it is \
        answered accessDenied with the reason grantDenied.
        """
    package static let errors: [ErrorKind] = [.invalidParameter, .accessDenied]
    package static let resultName = "denial"

    package struct Params: ParamsObject {
        package var request = ""
        package init() {}
        package init(request: String) { self.request = request }
        package static let members: [Member<Params>] = [
            .required("request", \.request, "GrantRequest.id.", .text(atMost: 64))
        ]
    }

    package struct Result: MessageObject {
        package var denied = true
        package init() {}
        package static let members: [Member<Result>] = [.required("denied", \.denied, "True.")]
    }
}
