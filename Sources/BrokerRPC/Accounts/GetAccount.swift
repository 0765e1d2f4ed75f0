import BrokerValues

package enum GetAccount: BrokerMethod {
    package static let name = "accounts.get"
    package static let summary = "One account."
    package static let description =
        "With an app: among the accounts of its group. Without one: among all of the person's."
    package static let permission = Permission.person
    package static let errors: [ErrorKind] = [.appNotFound, .accessDenied]
    package static let resultName = "account"

    package struct Params: AppSelecting {
        package var account = AccountReference()
        package var app: String?
        package var clientId: String?
        package var authority: String?

        package init() {}
        package init(_ account: AccountReference) { self.account = account }

        package static let members: [Member<Params>] =
            [.required("account", \.account, "By id or by username.")]
            + appMembers(\.app, \.clientId, \.authority, authority: "Issuer URL, with clientId.")

        package func check() throws(WireError) { try checkSelection(isRequired: false) }
    }

    package struct Result: MessageObject {
        package var account: Account?
        package init() {}
        package init(account: Account?) { self.account = account }
        package static let members: [Member<Result>] = [
            .nullable("account", \.account, "Null when there is none.")
        ]
    }
}
