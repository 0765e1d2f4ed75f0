import BrokerValues

package enum GetCurrentAccount: AppMethod {
    package static let name = "accounts.current"
    package static let summary = "The account of an app that has one at a time, and the one when the app last asked."
    package static let description = """
        current is the account that is signed in for the app; previous is the current one when the app last signed in or \
        called this, if it is another one, so that an app on a shared device notices another person; lastSignedOut is the one \
        that was last signed out of the app. If several are signed in, the answer is ambiguousAccount with the choices.
        """
    package static let right: SandboxRight? = .accounts
    package static let errors: [ErrorKind] = [.ambiguousAccount, .appNotFound, .accessDenied, .grantRequired]
    package static let resultName = "accounts"
    package typealias Result = CurrentAccounts

    package struct Params: AppParams {
        package var selection = AppSelection()

        package var reach: AppReach { .everything }

        package init() {}
        package init(_ app: AppReference) { selection = AppSelection(app) }

        package static let members: [Member<Params>] =
            appMembers(\.selection)
    }
}

extension CurrentAccounts: MessageObject {
    package init() { self.init(current: nil) }

    package static let members: [Member<CurrentAccounts>] = [
        .optional("current", \.current, "Absent if no account is signed in."),
        .optional("previous", \.previous, "Absent when it is the same as when the app last signed in or asked."),
        .optional("lastSignedOut", \.lastSignedOut, "Absent if no other account was signed out of the app."),
    ]
}
