import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct GitCredentialCommand: FrontCommand {
    static var about: About {
        About(
            "git-credential", "Give git the tokens of an app (a credential helper).",
            """
            Git runs it as git-credential-broker, and asks it for the hosts that git's configuration names:
              git config --global credential.https://git.example.org.helper ""
              git config --global --add credential.https://git.example.org.helper "broker --app work"

            The first line clears helpers that are set for every host. Tokens go only to https URLs and to this \
            machine. A token that the server refused is replaced once. It never prompts: git tells you when a sign-in \
            is needed.
            A helper that is set for every host gives your token to any host that a repository names; use --host to \
            limit it.

            Examples:
              printf 'protocol=https\\nhost=git.example.org\\n' | brokerctl git-credential --app work get
            """)
    }

    var global = GlobalOptions()
    var options = FrontOptions()
    var hosts: [String] = []
    var action = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&options)
        arguments.list(
            "host", &hosts,
            "A host that may get the token, with its port if it has one; may be repeated. Others get none.")
        arguments.argument(
            "action", &action, "get, store or erase; git says which.", completing: .words(["get", "store", "erase"]))
    }

    func validate() throws(UsageError) {
        guard options.app != nil else { throw UsageError("Name the app: --app.") }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        guard let app = options.app else { return }
        let request = GitCredentialRequest(lines: AnyIterator { StandardInput.line() })
        switch GitCredentialAnswer.verdict(on: request, hosts: hosts) {
        case .notOurs: return
        case .unencrypted where action == "get":
            context.output.aside(
                "brokerctl: \(request.host.clean) uses http, but tokens go only over https; use an https URL.")
        case .unencrypted: return
        case .ours:
            switch action {
            case "get": try get(request, app, context)
            case "erase": try replace(request, app, context)
            // Nothing needs storing, and actions of later versions of git are ignored.
            default: return
            }
        }
    }

    private func get(
        _ request: GitCredentialRequest, _ app: String, _ context: CommandContext
    ) throws(BrokerClientError) {
        do throws(BrokerClientError) {
            let node = try asking(request, app, context).send(on: context.connection)
            StandardStream.output.write(try GitCredentialAnswer.text(for: request, try Token.decoded(node)))
        } catch {
            StandardStream.output.write(GitCredentialAnswer.quit)
            throw error
        }
    }

    /// The server refused the token: the broker gets a new one, unless it already has one, and git asks for it next time.
    private func replace(
        _ request: GitCredentialRequest, _ app: String, _ context: CommandContext
    ) throws(BrokerClientError) {
        guard let refused = request.secret, !refused.isEmpty else { return }
        var asking = try asking(request, app, context)
        asking.params.rejectedToken = refused
        _ = try asking.send(on: context.connection)
    }

    /// A username in the URL selects the account of that name; any other is only for the server.
    private func asking(
        _ request: GitCredentialRequest, _ app: String, _ context: CommandContext
    ) throws(BrokerClientError) -> SilentTokenRequest {
        var asking = options.asking(as: app, global)
        guard asking.account == nil, let username = request.username, !username.isEmpty else { return asking }
        do throws(BrokerClientError) {
            let known = try AccountName(argument: username).find(among: .registered(app), on: context.connection)
            asking.params.query.account = .id(known.account.id)
        } catch {
            guard error.code == .accountNotFound else { throw error }
        }
        return asking
    }
}
