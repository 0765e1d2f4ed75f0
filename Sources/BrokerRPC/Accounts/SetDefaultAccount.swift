import BrokerValues

package enum SetDefaultAccount: AdministrationMethod {
    package static let name = "accounts.setDefault"
    package static let summary = "Chooses the account of tools that name none, if several are signed in to an app."
    package static let description = """
        For tools that act for an app, such as brokerctl token: accounts.list returns the choice, and they send that account. \
        The broker itself never chooses: a request without an account stays ambiguousAccount. Backups include the choice.
        """
    package static let errors: [ErrorKind] = [
        .accountNotFound, .ambiguousAccount, .appNotFound, .accessDenied, .locked,
    ]
    package static let resultName = "account"
    package typealias Result = GetAccount.Result

    package struct Params: ParamsObject {
        package var app = ""
        package var account: AccountReference?

        package init() {}
        package init(app: String, account: AccountReference?) { (self.app, self.account) = (app, account) }

        package static let members: [Member<Params>] = [
            .required("app", \.app, "A registered app.", .name(atMost: 128)),
            .optional("account", \.account, "By id or by username. Absent: clears the choice."),
        ]
    }
}
