import BrokerValues

package enum ListAccounts: AppOrPersonalMethod {
    package static let name = "accounts.list"
    package static let summary = "The accounts an app may use, in a stable order."
    package static let description = """
        With an app: the accounts of its group. Without one: all of the person's, for the person's own tools.
        """
    package static let isIdempotent = true
    package static let right: SandboxRight? = .accounts
    package static let errors: [ErrorKind] = [.appNotFound, .accessDenied, .grantRequired]
    package static let resultName = "accounts"

    package struct Params: OptionalAppParams {
        package var selection = AppSelection()
        package var includeSignedOut = false

        package var reach: AppReach { .everything }

        package init() {}
        package init(_ app: AppReference?, includingSignedOut: Bool = false) {
            (selection, includeSignedOut) = (AppSelection(app), includingSignedOut)
        }

        package static let members: [Member<Params>] =
            appMembers(\.selection) + [
                .defaulted("includeSignedOut", \.includeSignedOut, "True also lists signed-out accounts.", to: false)
            ]
    }

    package struct Result: MessageObject {
        package var accounts: [Account] = []
        package var defaultAccount: String?
        package init() {}
        package init(accounts: [Account], defaultAccount: String? = nil) {
            (self.accounts, self.defaultAccount) = (accounts, defaultAccount)
        }
        package static let members: [Member<Result>] = [
            .required("accounts", \.accounts, "First known first."),
            .optional(
                "defaultAccount", \.defaultAccount,
                "With an app: the id of the account that the person chose for it (accounts.setDefault)."),
        ]
    }
}
