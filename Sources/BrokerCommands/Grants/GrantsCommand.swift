import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

struct GrantsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants", abstract: "See and decide which programs may use which apps.",
        discussion: """
            Examples:
              brokerctl grants list
              brokerctl grants approve k7f3q2m9ab
            """,
        subcommands: [
            ListGrantsCommand.self, ApproveGrantCommand.self, DenyGrantCommand.self, RevokeGrantCommand.self,
        ])
}

struct ListGrantsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what was granted, and what programs ask for.",
        discussion: """
            Below each stands what the broker judged the program by, as it used it.

            Examples:
              brokerctl grants list --app mail
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("Of this app only.", valueName: "name"))
    var app: String?

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node = try context.connection.result(of: ListGrants.self, .init(app: app))
        let all = try ListGrants.Result.decoded(node)
        var usernames: [String: String] = [:]
        if all.grants.contains(where: { $0.accountID != nil }) || all.requests.contains(where: { $0.accountID != nil })
        {
            for account in try context.connection.call(ListAccounts.self, .init()).accounts {
                usernames[account.id] = account.username
            }
        }
        context.output.result(node) {
            GrantText.list(all, now: Output.now, usernames: usernames, in: context.output.layout)
        }
    }
}

struct DenyGrantCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Refuse what a program asks for.",
        discussion: """
            It is refused without asking for ten minutes, and longer each time.

            Examples:
              brokerctl grants deny k7f3q2m9ab
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The request, from brokerctl grants list.")
    var id: String

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(DenyGrant.self, .init(request: id)) { _ in "Denied \(id).\n".clean(keeping: "\n") }
    }
}

struct RevokeGrantCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a grant back.",
        discussion: """
            Tokens that the program has already stay good until they end.

            Examples:
              brokerctl grants revoke x2f3q2m9ab
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The grant, from brokerctl grants list.")
    var id: String

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(RevokeGrant.self, .init(id: id)) { _ in "Revoked \(id).\n".clean(keeping: "\n") }
    }
}
