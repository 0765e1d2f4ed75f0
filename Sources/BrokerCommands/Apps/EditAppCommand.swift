import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct EditAppCommand: Subcommand {
    static var about: About {
        About(
            "edit", "Change the given properties of a registered app, and keep the rest.",
            """
            A given list replaces the current one; an empty value removes it: --group "" makes the app a group of its \
            own. The client secret is kept unless a new one is given. A new authority is checked first, as in `apps \
            add`; --no-check skips that.

            Examples:
              brokerctl apps edit notes --scope notes.read notes.write
              brokerctl apps edit mail --executable /usr/bin/mbsync --group ""
            """)
    }

    var global = GlobalOptions()
    var name = ""
    var clientID: String?
    var authority: String?
    var describing = AppDescriptionOptions()
    var secret = ClientSecretOptions()
    var check: Bool?
    var instanceAware: Bool?

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("name", &name, "The app's name.", completing: LiveCompletion.apps)
        arguments.option("client-id", &clientID, value: "id", "Its client id at the provider.")
        arguments.option("authority", &authority, value: "url", "The issuer's URL.")
        arguments.group(&describing)
        arguments.group(&secret)
        arguments.choice(
            "check", &check,
            "Whether to read the provider's metadata first; --check is the default with --authority.")
        arguments.choice(
            "instance-aware", &instanceAware,
            "Microsoft Entra: whether its users' home tenants may be in clouds other than the authority's.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let (app, _) = try App.registered(as: name, in: context)
        var params = RegisterApp.Params(
            name: name, clientId: clientID ?? app.clientID, authority: authority ?? app.authority)
        params.description = app.description
        params.description.clientID = clientID ?? app.clientID
        describing.change(&params.description)
        params.instanceAware = instanceAware ?? app.instanceAware
        params.clientSecret = try secret.read()
        params.keepClientSecret = true
        params.tokenEndpointAuthMethod = secret.method ?? app.tokenEndpointAuthMethod
        params.checkAuthority = check ?? (authority != nil)
        let seen = try SeenProvider(asking: params, toDo: "change the app", in: context)
        seen.warn("changed", context)
        describing.warn(context)
        context.output.result(seen.node) { seen.facts.text(in: context.output.layout) }
    }
}
