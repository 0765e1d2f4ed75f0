import ArgumentParser

struct AccountsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List, show, remove and sign out accounts.",
        subcommands: [
            ListAccountsCommand.self, ShowAccountCommand.self, RemoveAccountCommand.self, SignOutCommand.self,
        ])
}
