import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct GrantsCommand: Noun {
    static var about: About {
        About(
            "grants", "Show and decide which programs may use which apps.",
            """
            Examples:
              brokerctl grants list
              brokerctl grants approve k7f3q2m9ab
            """)
    }

    static var subcommands: [any Command.Type] {
        [
            ListGrantsCommand.self, ApproveGrantCommand.self, DenyGrantCommand.self, RevokeGrantCommand.self,
        ]
    }
}

struct ListGrantsCommand: Subcommand {
    static var about: About {
        About(
            "list", "List grants and pending requests.",
            """
            Below each entry are the facts by which the broker judged the program.

            Examples:
              brokerctl grants list --app mail
            """)
    }

    var global = GlobalOptions()
    var app: String?

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.option("app", &app, value: "name", "Only those of this app.", completing: LiveCompletion.apps)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node = try context.connection.result(of: ListGrants.self, .init(app: app))
        let all = try ListGrants.Result.decoded(node)
        var names = PeopleNames()
        if all.grants.contains(where: { $0.accountID != nil }) || all.requests.contains(where: { $0.accountID != nil })
        {
            names = PeopleNames(try context.connection.call(ListAccounts.self, .init()).accounts)
        }
        context.output.result(node) {
            GrantText.list(all, now: Output.now, names: names, in: context.output.layout)
        }
    }
}

struct DenyGrantCommand: Subcommand {
    static var about: About {
        About(
            "deny", "Refuse a program's request.",
            """
            The program is then refused without asking you, for ten minutes at first and longer each time.

            Examples:
              brokerctl grants deny k7f3q2m9ab
            """)
    }

    var global = GlobalOptions()
    var id = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("id", &id, "The request, from brokerctl grants list.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(DenyGrant.self, .init(request: id)) { _ in "Denied \(id).".clean + "\n" }
    }
}

struct RevokeGrantCommand: Subcommand {
    static var about: About {
        About(
            "revoke", "Revoke a grant.",
            """
            Tokens that the program already has stay valid until they expire.

            Examples:
              brokerctl grants revoke x2f3q2m9ab
            """)
    }

    var global = GlobalOptions()
    var id = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("id", &id, "The grant, from brokerctl grants list.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(RevokeGrant.self, .init(id: id)) { _ in "Revoked \(id).".clean + "\n" }
    }
}
