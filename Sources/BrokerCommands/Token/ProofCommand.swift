import ArgumentParser
import BrokerClient
import BrokerRPC

struct ProofCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "proof", abstract: "Print a proof for one call of an API with a DPoP token.",
        discussion: """
            The value of the header DPoP (RFC 9449), good for one call with the account's newest DPoP token:
              curl -H "$(brokerctl token --app A --token-type DPoP --format header)" \\
                   -H "DPoP: $(brokerctl proof --app A URL)" URL

            Examples:
              brokerctl proof --app notes --method POST https://api.example.org/notes
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var choice: AppOptions

    @Argument(help: "What is called.")
    var url: String

    @Option(help: ArgumentHelp("As in the request line.", valueName: "method"))
    var method = "GET"

    @Option(help: ArgumentHelp("Whose token: a username or an account's id.", valueName: "account"))
    var account: AccountName?

    @Option(help: ArgumentHelp("From the API's header DPoP-Nonce, if it sent one.", valueName: "nonce"))
    var nonce: String?

    func validate() throws {
        guard choice.reference != nil else {
            throw ValidationError("Say for which app: --app, or --client-id and --authority.")
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        guard let app = choice.reference else { return }
        var params = ProveToken.Params(app, httpMethod: method, url: url)
        params.account = try account.map { account throws(BrokerClientError) in
            .id(try account.find(among: app, on: context.connection).account.id)
        }
        params.nonce = nonce
        try context.tell(ProveToken.self, params) { $0.proof.clean + "\n" }
    }
}
