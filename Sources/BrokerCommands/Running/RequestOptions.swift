import ArgumentParser
import BrokerClient
import BrokerRPC

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

    /// Puts app, authority and scopes into a request.
    func fill(_ params: inout some TokenParams, on connection: DirectConnection) throws(BrokerClientError) {
        params.app = app
        params.clientId = clientID
        params.authority = authority
        params.scopes = scopes.flatMap { $0.split(separator: " ").map(String.init) }
        guard params.scopes.isEmpty, let app else { return }
        let apps = try connection.call(ListApps.self, .init()).apps
        params.scopes = apps.first { $0.name == app }?.scopes ?? []
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
