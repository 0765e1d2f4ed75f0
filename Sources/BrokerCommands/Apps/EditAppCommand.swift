import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct EditAppCommand: Subcommand {
    static var about: About {
        About(
            "edit", "Change named properties of a registered app, and keep the rest.",
            """
            A list that is named replaces the one there is; an empty value takes away what it names: --group "" makes the \
            app a group of its own. A client secret is kept, unless another is given. Another authority is looked at as with add: \
            --no-check takes it unseen.

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

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.argument("name", &name, "The app's name.")
        arguments.option("client-id", &clientID, value: "id", "Its client id at the provider.")
        arguments.option("authority", &authority, value: "url", "The issuer's URL.")
        arguments.group(&describing)
        arguments.group(&secret)
        arguments.choice(
            "check", &check,
            "Whether the provider's metadata are read first; they are with --authority if this is left out.")
        arguments.choice(
            "instance-aware", &instanceAware,
            "Microsoft Entra: whether its people may be at home in other clouds than the authority's own.")
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
