import ArgumentParser
import BrokerRPC
import BrokerValues

/// For which app a token is wanted.
struct RequestOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("A registered app.", valueName: "name"), completion: LiveCompletion.apps)
    var app: String?

    @Option(name: .long, help: ArgumentHelp("A client id without a registration; needs --authority.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp(
            "The issuer's URL: the client id's, or another one than the app's for this request.", valueName: "url"))
    var authority: String?

    @Option(
        name: .customLong("scope"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "What the token must be good for; may be repeated.",
            discussion: "Without it, the scopes that the app is registered with.", valueName: "scope"))
    var scopes: [String] = []

    func validate() throws {
        switch (app, clientID, authority) {
        case (nil, nil, _): throw ValidationError("Say for which app: --app, or --client-id and --authority.")
        case (_?, _?, _): throw ValidationError("Give --app or --client-id, not both.")
        case (nil, _?, nil): throw ValidationError("--client-id needs --authority.")
        default: return
        }
    }

    var requested: RequestedApp {
        RequestedApp(app: app, clientID: clientID, authority: authority, scopes: scopes)
    }
}

/// Whose accounts are meant.
struct AppOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A registered app.", valueName: "name"), completion: LiveCompletion.apps)
    var app: String?

    @Option(name: .long, help: ArgumentHelp("A client id without a registration; needs --authority.", valueName: "id"))
    var clientID: String?

    @Option(help: ArgumentHelp("The client id's issuer.", valueName: "url"))
    var authority: String?

    func validate() throws {
        guard app == nil || clientID == nil else { throw ValidationError("Give --app or --client-id, not both.") }
        guard (clientID == nil) == (authority == nil) else {
            throw ValidationError("--client-id and --authority go together.")
        }
    }

    /// Nil means all apps.
    var reference: AppReference? {
        if let app { return .registered(app) }
        guard let clientID, let authority else { return nil }
        return .adHoc(clientID: clientID, authority: authority)
    }
}
