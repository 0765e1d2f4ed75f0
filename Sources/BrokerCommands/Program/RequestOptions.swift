import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// The app that requests a token.
struct RequestOptions: ArgumentGroup {
    var app: String?
    var clientID: String?
    var authority: String?
    var scopes: [String] = []

    mutating func declare(in arguments: inout Arguments) {
        arguments.option("app", &app, value: "name", "A registered app.", completing: LiveCompletion.apps)
        arguments.option("client-id", &clientID, value: "id", "A client id without a registration; needs --authority.")
        arguments.option(
            "authority", &authority, value: "url",
            "The issuer's URL: for the client id, or instead of the app's for this request.")
        arguments.list(
            "scope", &scopes, takesSeveral: true, "A scope of the token; may be repeated.",
            "Without it, the scopes that the app is registered with.")
    }

    func validate() throws(UsageError) {
        switch (app, clientID, authority) {
        case (nil, nil, _): throw UsageError("Name the app: --app, or --client-id and --authority.")
        case (_?, _?, _): throw UsageError("Give --app or --client-id, not both.")
        case (nil, _?, nil): throw UsageError("--client-id needs --authority.")
        default: return
        }
    }

    /// The app itself, without the authority for this request.
    var reference: AppReference? {
        if let app { return .registered(app) }
        guard let clientID, let authority else { return nil }
        return .adHoc(clientID: clientID, authority: authority)
    }

    /// The words of the matching sign-in command.
    var words: [String] {
        var words: [String] = []
        if let app { words += ["--app", app] }
        if let clientID { words += ["--client-id", clientID] }
        if let authority { words += ["--authority", authority] }
        return words + scopes.flatMap { ["--scope", $0] }
    }

    /// Puts app, authority and scopes into a request.
    func fill(_ params: inout some TokenParams) {
        params.selection.app = app
        params.selection.clientId = clientID
        params.selection.authority = authority
        params.ask(for: scopes)
    }
}

/// The app whose accounts to use.
struct AppOptions: ArgumentGroup {
    var app: String?
    var clientID: String?
    var authority: String?

    mutating func declare(in arguments: inout Arguments) {
        arguments.option("app", &app, value: "name", "A registered app.", completing: LiveCompletion.apps)
        arguments.option("client-id", &clientID, value: "id", "A client id without a registration; needs --authority.")
        arguments.option("authority", &authority, value: "url", "The client id's issuer.")
    }

    func validate() throws(UsageError) {
        guard app == nil || clientID == nil else { throw UsageError("Give --app or --client-id, not both.") }
        guard (clientID == nil) == (authority == nil) else {
            throw UsageError("--client-id and --authority go together.")
        }
    }

    /// `nil` means all apps.
    var reference: AppReference? {
        if let app { return .registered(app) }
        guard let clientID, let authority else { return nil }
        return .adHoc(clientID: clientID, authority: authority)
    }
}

extension TokenParams {
    /// - Parameter scopes: each has one or several scopes, as people write them. Without any, the broker takes those
    ///   that the app is registered with.
    mutating func ask(for scopes: [String]) {
        query.scopes = scopes.flatMap { $0.split(separator: " ").map(String.init) }
    }
}

/// Scopes that the broker adds to each request and refuses as parameters.
enum ReservedScopes {
    static let all: Set<String> = ["openid", "profile", "offline_access"]
}
