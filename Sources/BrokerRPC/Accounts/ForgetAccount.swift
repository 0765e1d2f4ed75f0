import BrokerValues

package enum ForgetAccount: AdministrationMethod {
    package static let name = "accounts.forget"
    package static let summary = "Erases an account everywhere."
    package static let description = """
        Its tokens, keys, names and sign-out marks go from every group and app of the person, whether registered still or \
        not, and so do grants for it alone. Sign-ins that wait for it end. What a refresh under way brings afterwards is not kept, and revoked. The \
        browser stays signed in; accounts.signOut ends that, first.
        """
    package static let errors: [ErrorKind] = [.accountNotFound, .ambiguousAccount, .accessDenied, .locked]
    package static let resultName = "erasure"
    package typealias Result = ErasureReport

    package struct Params: CorrelatedParams {
        package var account = AccountReference.id("")
        package var revoke = false
        package var correlationId: String?

        package init() {}
        package init(_ account: AccountReference) { self.account = account }

        package static let members: [Member<Params>] = [
            .required("account", \.account, "By id or by username."),
            .defaulted("revoke", \.revoke, "True revokes the refresh tokens at the provider.", to: false),
            .correlationID(\.correlationId),
        ]
    }
}

extension ErasureReport: MessageObject {
    package static let members: [Member<ErasureReport>] = [
        .required("accounts", \.accounts, "People who were known."),
        .required("tokens", \.tokens, "Access, refresh and ID tokens that there were."),
        .required(
            "revocation", \.revocation,
            "Of the refresh tokens, at their providers: done, skipped, or \"failed: \" and why."),
    ]
}
