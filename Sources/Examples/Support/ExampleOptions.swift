import Foundation

/// The options of the sample apps, from flags or variables.
package struct ExampleOptions: Sendable {
    /// A registered app's name: `--app`, `BROKER_APP`.
    package var app: String?
    /// The client id, without a registration: `--client-id`, `BROKER_CLIENT_ID`.
    package var clientID: String?
    /// The issuer's URL, with a client id: `--authority`, `BROKER_AUTHORITY`.
    package var authority: String?
    /// `--scope`, repeated, or `BROKER_SCOPES`, separated by spaces.
    package var scopes: [String]
    /// The API to call: `--api`, `BROKER_API`; the provider's userinfo endpoint if left out. For Microsoft Graph:
    /// `https://graph.microsoft.com/v1.0/me` with the scope `User.Read`.
    package var api: String?
    /// The broker's socket: `--socket`; the library looks for `BROKER_SOCKET` itself.
    package var socket: String?
    /// The account, if several people are signed in: `--account`.
    package var account: String?
    /// Never open a browser: `--silent`.
    package var isSilent = false
    /// Remove the accounts from this app, and do nothing else: `--sign-out`.
    package var signsOut = false

    package struct Misused: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - scopes: the default scopes.
    ///   - environment: the process's variables.
    /// - Throws: ``Misused`` for an unknown flag, one without its value, or no app.
    package init(_ arguments: [String], scopes: [String], environment: [String: String]) throws {
        app = environment["BROKER_APP"]
        clientID = environment["BROKER_CLIENT_ID"]
        authority = environment["BROKER_AUTHORITY"]
        api = environment["BROKER_API"]
        self.scopes = environment["BROKER_SCOPES"]?.split(separator: " ").map(String.init) ?? scopes
        var givenScopes: [String] = []
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            switch flag {
            case "--silent": isSilent = true
            case "--sign-out": signsOut = true
            case "--app": (app, clientID) = (try Self.value(of: flag, &rest), nil)
            case "--client-id": (clientID, app) = (try Self.value(of: flag, &rest), nil)
            case "--authority": authority = try Self.value(of: flag, &rest)
            case "--scope": givenScopes.append(try Self.value(of: flag, &rest))
            case "--api": api = try Self.value(of: flag, &rest)
            case "--socket": socket = try Self.value(of: flag, &rest)
            case "--account": account = try Self.value(of: flag, &rest)
            default: throw Misused(description: "Unknown option \(flag).\n\(Self.usage)")
            }
        }
        if !givenScopes.isEmpty { self.scopes = givenScopes }
        guard app != nil || (clientID != nil && authority != nil) else {
            throw Misused(description: "Name the app.\n\(Self.usage)")
        }
    }

    package static let usage = """
        Options: --app NAME | --client-id ID --authority URL, --scope S (repeated), --api URL, --account NAME,
                 --socket PATH, --silent, --sign-out
        Variables: BROKER_APP, BROKER_CLIENT_ID, BROKER_AUTHORITY, BROKER_SCOPES, BROKER_API, BROKER_SOCKET
        """

    private static func value(of flag: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw Misused(description: "\(flag) needs a value.\n\(usage)") }
        return value
    }
}
