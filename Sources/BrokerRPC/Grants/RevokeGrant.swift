import BrokerValues

package enum RevokeGrant: AdministrationMethod {
    package static let name = "grants.revoke"
    package static let summary = "Takes a grant back."
    package static let description = """
        From now on it admits no request: not to cached tokens, and not to pending answers. Tokens that were \
        returned stay valid until they expire.
        """
    package static let errors: [ErrorKind] = [.invalidParameter, .accessDenied]
    package static let resultName = "revocation"

    package struct Params: ParamsObject {
        package var id = ""
        package init() {}
        package init(id: String) { self.id = id }
        package static let members: [Member<Params>] = [.required("id", \.id, "Grant.id.", .text(atMost: 64))]
    }

    package struct Result: MessageObject {
        package var revoked = true
        package init() {}
        package static let members: [Member<Result>] = [.required("revoked", \.revoked, "True.")]
    }
}
