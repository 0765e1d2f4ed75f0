import ArgumentParser

struct AccountsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List, show and remove accounts.",
        subcommands: [ListAccountsCommand.self, ShowAccountCommand.self, RemoveAccountCommand.self])
}
