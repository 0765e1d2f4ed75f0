import BrokerValues

package enum RemoveAccount: AppMethod {
    package static let name = "accounts.remove"
    package static let summary = "Takes an account's tokens from one app."
    package static let description = """
        A username means an account of the app's provider; several signed-in accounts with one username are ambiguousAccount. \
        Other apps of the group keep theirs, and the browser stays signed in. The app gets interactionRequired from \
        then on, until the person signs in to it again.
        """
    package static let right: SandboxRight? = .accounts
    package static let errors: [ErrorKind] = [
        .accountNotFound, .ambiguousAccount, .appNotFound, .accessDenied, .grantRequired,
    ]
    package static let resultName = "removal"

    package struct Params: AppParams {
        package var account = AccountReference.id("")
        package var selection = AppSelection()

        package var reach: AppReach { .removal(account) }

        package init() {}
        package init(_ account: AccountReference, from app: AppReference) {
            self.account = account
            selection = AppSelection(app)
        }

        package static let members: [Member<Params>] =
            [.required("account", \.account, "By id or by username.")]
            + appMembers(\.selection)
    }

    package struct Result: MessageObject {
        package var removed: Int64 = 0
        package init() {}
        package init(removed: Int64) { self.removed = removed }
        package static let members: [Member<Result>] = [
            .required("removed", \.removed, "How many tokens the app lost.")
        ]
    }
}
