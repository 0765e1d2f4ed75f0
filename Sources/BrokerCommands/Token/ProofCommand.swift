import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct ProofCommand: Subcommand {
    static var about: About {
        About(
            "proof", "Print a proof for one call of an API with a DPoP token.",
            """
            The value of the DPoP header (RFC 9449), valid for one call with the account's newest DPoP token:
              curl -H "$(brokerctl token --app A --token-type DPoP --format header)" \\
                   -H "DPoP: $(brokerctl proof --app A URL)" URL

            Examples:
              brokerctl proof --app notes --method POST https://api.example.org/notes
            """)
    }

    var global = GlobalOptions()
    var choice = AppOptions()
    var url = ""
    var method = "GET"
    var account: AccountName?
    var nonce: String?

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&choice)
        arguments.argument("url", &url, "The URL to call.")
        arguments.option("method", &method, "The HTTP method; GET if left out.")
        arguments.option("account", &account, "The token's account: a username or an id.")
        arguments.option("nonce", &nonce, "The value of the API's DPoP-Nonce header, if it sent one.")
    }

    func validate() throws(UsageError) {
        guard choice.reference != nil else {
            throw UsageError("Name the app: --app, or --client-id and --authority.")
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        guard let app = choice.reference else { return }
        var params = ProveToken.Params(app, httpMethod: method, url: url)
        params.account = try account.map { account throws(BrokerClientError) in
            .id(try account.find(among: app, on: context.connection).account.id)
        }
        params.nonce = nonce
        do throws(BrokerClientError) {
            try context.tell(ProveToken.self, params) { $0.proof.cleanWhole + "\n" }
        } catch {
            var error = error
            if error.code == .ambiguousAccount { error.message += " Name it with --account." }
            throw error
        }
    }
}
