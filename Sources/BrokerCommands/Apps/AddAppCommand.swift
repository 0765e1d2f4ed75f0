import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct AddAppCommand: Subcommand {
    static var about: About {
        About(
            "add", "Register an app with the broker.",
            """
            Apps of one group share accounts: sign in to one app, and the others get tokens, too. Without \
            --executable, --unit and --sandbox, any of your programs may act as the app. The broker reads the \
            provider's metadata first, and the command shows what it found; --no-check skips that. With --register, \
            the broker registers the client at the provider, if the provider allows it.

            Examples:
              brokerctl apps add notes --client-id ID --authority https://id.example.org --scope notes.read
              brokerctl apps add mail --client-id ID --authority https://id.example.org --executable /usr/bin/mbsync
              brokerctl apps add wiki --register --authority https://id.example.org
            """)
    }

    var global = GlobalOptions()
    var name = ""
    var clientID: String?
    var register = false
    var confidential = false
    var initialAccessTokenFile: String?
    var authority = ""
    var describing = AppDescriptionOptions()
    var secret = ClientSecretOptions()
    var replace = false
    var check: Bool?
    var instanceAware = false
    var urlHandler = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("name", &name, "The app's name in requests.")
        arguments.option("client-id", &clientID, value: "id", "Its client id at the provider.")
        arguments.flag("register", &register, "Register a new client at the provider instead of naming one (RFC 7591).")
        arguments.flag(
            "confidential", &confidential, "With --register: ask for a client with a secret, which the broker keeps.")
        arguments.option(
            "initial-access-token-file", &initialAccessTokenFile, value: "path",
            "With --register: a file with the initial access token that the provider requires; - for standard input.")
        arguments.option("authority", &authority, value: "url", isRequired: true, "The issuer's URL.")
        arguments.group(&describing)
        arguments.group(&secret)
        arguments.flag("replace", &replace, "Replace the app of this name, including all of its settings.")
        arguments.choice(
            "check", &check, "Whether to read the provider's metadata first; --check is the default.")
        arguments.flag(
            "instance-aware", &instanceAware,
            "Microsoft Entra: its users' home tenants may be in clouds other than the authority's.")
        arguments.flag(
            "url-handler", &urlHandler,
            "Make the desktop hand this app's redirects to the broker; needs --redirect-uri.",
            "For a redirect URI with a scheme of the app's own, such as msauth.org.example.mail://auth.")
    }

    func validate() throws(UsageError) {
        guard register != (clientID != nil) else {
            throw UsageError("Give the app's --client-id, or let the broker make one with --register.")
        }
        guard register || (!confidential && initialAccessTokenFile == nil) else {
            throw UsageError("--confidential and --initial-access-token-file go with --register.")
        }
        guard !register || !secret.isGiven else {
            throw UsageError(
                "With --register the provider issues the client secret; leave yours out.")
        }
        guard secret.method == nil || secret.isGiven else {
            throw UsageError("--token-endpoint-auth-method goes with a client secret (--client-secret-file).")
        }
        guard !register || check == nil else {
            throw UsageError(
                "--check and --no-check go with --client-id: with --register the provider is always asked.")
        }
        guard !register || !instanceAware else {
            throw UsageError("--instance-aware goes with --client-id: at Entra no client can register itself.")
        }
        guard urlHandler else { return }
        guard let redirectURI = describing.redirectURI else {
            throw UsageError("--url-handler needs --redirect-uri.")
        }
        guard URLHandler(app: name, redirectURI: redirectURI) != nil else {
            throw UsageError(
                "--url-handler takes a redirect URI whose scheme is the app's own and has a dot in it, such as msauth.org.example.mail://auth."
            )
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        if let clientID { try add(clientID, in: context) } else { try registerAtProvider(in: context) }
        describing.warn(context)
    }

    private func registerAtProvider(in context: CommandContext) throws(BrokerClientError) {
        var params = RegisterAppAtProvider.Params(name: name, authority: authority)
        describe(&params)
        params.replace = replace
        params.confidential = confidential
        if let path = initialAccessTokenFile { params.initialAccessToken = try SecretFile.firstLine(of: path) }
        let node = try context.answer(to: RegisterAppAtProvider.self, params)
        let result = try RegisterAppAtProvider.Result.decoded(node)
        try installHandler(context)
        context.output.result(node) {
            var facts = AppText.facts(result.app)
            facts.add(
                "Secret ends", result.clientSecretExpiresOn.map { TimeText.relative($0, to: Output.now) })
            return facts.text(in: context.output.layout)
        }
    }

    private func add(_ clientID: String, in context: CommandContext) throws(BrokerClientError) {
        var params = RegisterApp.Params(name: name, clientId: clientID, authority: authority)
        describe(&params)
        params.replace = replace
        params.instanceAware = instanceAware
        params.clientSecret = try secret.read()
        params.tokenEndpointAuthMethod = secret.method
        params.checkAuthority = check ?? true
        let seen = try SeenProvider(asking: params, toDo: "add the app", in: context)
        seen.warn("added", context)
        try installHandler(context)
        context.output.result(seen.node) { seen.facts.text(in: context.output.layout) }
    }

    private func describe(_ params: inout some AppDescribing) {
        params.description = AppDescription(name: name, clientID: clientID ?? "")
        describing.change(&params.description)
    }

    private func installHandler(_ context: CommandContext) throws(BrokerClientError) {
        guard urlHandler, let handler = describing.redirectURI.flatMap({ URLHandler(app: name, redirectURI: $0) })
        else { return }
        let location = context.connection.location
        do throws(BrokerClientError) {
            guard let files = URLHandlerFiles() else {
                throw BrokerClientError(.invalidParameter, "There is no home directory for it; set HOME.")
            }
            try files.install(handler, socket: location.isUsual ? nil : location.absolutePath)
        } catch {
            throw BrokerClientError(
                error.code, "\(name) is registered, but its URL handler is not set up. \(error.message)", cause: error)
        }
    }
}
