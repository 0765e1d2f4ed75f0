import BrokerValues

package enum ForgetAccount: AdministrationMethod {
    package static let name = "accounts.forget"
    package static let summary = "Erases an account everywhere."
    package static let description = """
        Its tokens, keys, names and sign-out marks are removed from every group and app of the person, still registered or \
        not, and so are grants for it alone. Sign-ins that wait for it end. The result of a refresh in progress is revoked, not kept. The \
        browser stays signed in; call accounts.signOut first to end that.
        """
    package static let errors: [ErrorKind] = [.accountNotFound, .ambiguousAccount, .accessDenied, .locked]
    package static let resultName = "erasure"
    package typealias Result = ErasureReport

    package struct Params: ParamsObject {
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
        .required("accounts", \.accounts, "The forgotten accounts."),
        .required("tokens", \.tokens, "Access, refresh and ID tokens that there were."),
        .required(
            "revocation", \.revocation,
            "The refresh tokens' revocation at their providers: done, skipped, or \"failed: \" and why."),
    ]
}
