import ArgumentParser

struct AccountsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List, show, remove, sign out and forget accounts, choose one.",
        discussion: """
            Examples:
              brokerctl accounts list
              brokerctl accounts sign-out ada@example.org
            """,
        subcommands: [
            ListAccountsCommand.self, ShowAccountCommand.self, RemoveAccountCommand.self, SignOutCommand.self,
            ForgetAccountCommand.self, DefaultAccountCommand.self,
        ])
}
