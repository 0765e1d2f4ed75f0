import BrokerClient
import ExampleSupport

/// Shows your profile: the first step of MSAL's tutorial, with the broker instead of MSAL.
@main
enum ProfileApp {
    static func main() async {
        await Example.run(scopes: ["email"]) { options in
            let application = try PublicClientApplication(configuration: options.configuration)
            if options.signsOut { return try await signOut(application) }
            let result = try await token(from: application, options)
            try await showProfile(with: result, options)
        }
    }

    /// The pattern of every app: silently if possible, otherwise with the person.
    static func token(from application: PublicClientApplication, _ options: ExampleOptions) async throws -> TokenResult
    {
        do {
            return try await application.acquireTokenSilent(with: silent(application, options))
        } catch let error as BrokerClientError {
            guard error.code == .interactionRequired, !options.isSilent else { throw error }
        } catch is NotSignedIn where !options.isSilent {}
        var parameters = InteractiveTokenParameters(scopes: options.scopes)
        parameters.loginHint = options.account
        return try await application.acquireToken(with: parameters)
    }

    struct NotSignedIn: Error, CustomStringConvertible {
        let description: String
    }

    /// For the named person only; without a name for the signed-in one.
    static func silent(
        _ application: PublicClientApplication, _ options: ExampleOptions
    ) async throws -> SilentTokenParameters {
        guard let name = options.account else { return SilentTokenParameters(scopes: options.scopes) }
        guard let account = try await application.account(forUsername: name) else {
            throw NotSignedIn(description: "\(name) is not signed in to this app.")
        }
        return SilentTokenParameters(scopes: options.scopes, account: account)
    }

    static func showProfile(with result: TokenResult, _ options: ExampleOptions) async throws {
        let api: String
        if let named = options.api {
            api = named
        } else {
            api = try await WebAPI.userinfoEndpoint(of: result.authority)
        }
        let profile = try await WebAPI.get(api, authorization: result.authorizationHeader)
        print("You are \(profile["name"] ?? profile["displayName"] ?? result.account.username).")
        for (name, value) in profile.sorted(by: { $0.key < $1.key }) { print("  \(name): \(value)") }
        print(result.isFromCache ? "The token came from the broker's cache." : "The token is new.")
    }

    static func signOut(_ application: PublicClientApplication) async throws {
        for account in try await application.allAccounts() {
            try await application.remove(account)
            print("\(account.username) is signed out of this app.")
        }
    }
}
