import BrokerValues

package enum GetAccount: AppOrPersonalMethod {
    package static let name = "accounts.get"
    package static let summary = "One account."
    package static let description =
        """
        With an app: among the accounts of its group at the app's provider. Without an app: among all of the person's. Several \
        with the username are ambiguousAccount with the choices, unless exactly one is signed in.
        """
    package static let isIdempotent = true
    package static let right: SandboxRight? = .accounts
    package static let errors: [ErrorKind] = [.ambiguousAccount, .appNotFound, .accessDenied, .grantRequired]
    package static let resultName = "account"

    package struct Params: OptionalAppParams {
        package var account = AccountReference.id("")
        package var selection = AppSelection()

        package var reach: AppReach { .account(account) }

        package init() {}
        package init(_ account: AccountReference, of app: AppReference? = nil) {
            (self.account, selection) = (account, AppSelection(app))
        }

        package static let members: [Member<Params>] =
            [.required("account", \.account, "By id or by username.")]
            + appMembers(\.selection)
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
