import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

/// For which app a token is wanted.
struct RequestOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("A registered app.", valueName: "name"))
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

    /// The app itself, without another authority for this request.
    var reference: AppReference? {
        if let app { return .registered(app) }
        guard let clientID, let authority else { return nil }
        return .adHoc(clientID: clientID, authority: authority)
    }

    /// What a person types to sign in to this.
    var words: [String] {
        var words: [String] = []
        if let app { words += ["--app", app] }
        if let clientID { words += ["--client-id", clientID] }
        if let authority { words += ["--authority", authority] }
        return words + scopes.flatMap { ["--scope", $0] }
    }

    /// Puts app, authority and scopes into a request.
    func fill(_ params: inout some TokenParams, on connection: DirectConnection) throws(BrokerClientError) {
        params.selection.app = app
        params.selection.clientId = clientID
        params.selection.authority = authority
        params.scopes = scopes.flatMap { $0.split(separator: " ").map(String.init) }
        guard params.scopes.isEmpty, let app else { return }
        let apps = try connection.call(ListApps.self, .init()).apps
        params.scopes = apps.first { $0.name == app }?.scopes ?? []
    }
}

/// Whose accounts are meant.
struct AppOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A registered app.", valueName: "name"))
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

/// Names an account by id or username, as people copy either from a list.
struct AccountName: ExpressibleByArgument, Sendable {
    let text: String

    init(argument: String) { text = argument }

    /// Both readings, the likelier one first: ids are long and made of letters and digits, most usernames have an `@`.
    var references: [AccountReference] {
        let isLikelyID = text.count >= 20 && text.utf8.allSatisfy(Self.isBase64URL)
        return isLikelyID ? [.id(text), .username(text)] : [.username(text), .id(text)]
    }

    /// The account of that name.
    ///
    /// - Parameter app: among whose accounts; nil for all.
    /// - Throws: ``BrokerClientError/Code/accountNotFound``.
    func find(
        among app: AppReference?, on connection: DirectConnection
    ) throws(BrokerClientError) -> (node: JSONNode, account: Account) {
        for reference in references {
            var params = GetAccount.Params(reference)
            params.selection = AppSelection(app)
            let node = try connection.result(of: GetAccount.self, params)
            if let found = try GetAccount.Result.decoded(node).account { return (node, found) }
        }
        throw BrokerClientError(
            .accountNotFound, "There is no account \(text); brokerctl accounts list shows those there are.")
    }

    /// Asks with each reading until one names an account.
    func resolve<Value>(
        _ ask: (AccountReference) throws(BrokerClientError) -> Value
    ) throws(BrokerClientError) -> Value {
        let (first, second) = (references[0], references[1])
        do throws(BrokerClientError) {
            return try ask(first)
        } catch {
            guard error.code == .accountNotFound else { throw error }
        }
        return try ask(second)
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
