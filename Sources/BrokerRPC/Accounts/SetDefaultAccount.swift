import BrokerValues

package enum SetDefaultAccount: AdministrationMethod {
    package static let name = "accounts.setDefault"
    package static let summary = "Chooses whom a tool means that names nobody, where several are signed in to an app."
    package static let description = """
        For tools that ask for others, such as brokerctl token: accounts.list tells them the choice, and they ask with that account. \
        The broker itself never chooses: a request that names nobody stays ambiguousAccount. The choice goes into backups with the account.
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
            .optional("account", \.account, "By id or by username. Absent: nobody is chosen any more."),
        ]
    }
}
