import BrokerClient
import ExampleSupport
import Foundation

/// Counts your mail as a second app of the same group: the first app's account is known here, and no
/// browser opens.
///
/// With Microsoft Graph: `--scope Mail.ReadBasic --api https://graph.microsoft.com/v1.0/me/mailFolders/inbox`. With any
/// other provider it shows the credentials for a mail server.
@main
enum MailApp {
    static func main() async {
        await Example.run(scopes: ["email"]) { options in
            let application = try PublicClientApplication(configuration: options.configuration)
            let accounts = try await application.allAccounts()
            if options.signsOut { return try await signOut(accounts, of: application) }
            for account in accounts where options.account == nil || account.username == options.account {
                try await showMailbox(with: token(for: account, from: application, options), options)
            }
            if accounts.isEmpty {
                try await showMailbox(with: token(for: nil, from: application, options), options)
            }
        }
    }

    /// Silently if possible; otherwise with the person, or with fewer scopes.
    static func token(
        for account: Account?, from application: PublicClientApplication, _ options: ExampleOptions
    ) async throws -> TokenResult {
        do {
            return try await application.acquireTokenSilent(with: silent(options.scopes, for: account))
        } catch {
            switch error.code {
            case .interactionRequired where !options.isSilent:
                let parameters =
                    account.map { InteractiveTokenParameters(scopes: options.scopes, account: $0) }
                    ?? InteractiveTokenParameters(scopes: options.scopes)
                return try await application.acquireToken(with: parameters)
            case .serverDeclinedScopes:
                return try await application.acquireTokenSilent(with: silent(error.grantedScopes ?? [], for: account))
            default: throw error
            }
        }
    }

    /// Without an account if none has signed in yet.
    static func silent(_ scopes: [String], for account: Account?) -> SilentTokenParameters {
        account.map { SilentTokenParameters(scopes: scopes, account: $0) } ?? SilentTokenParameters(scopes: scopes)
    }

    static func showMailbox(with result: TokenResult, _ options: ExampleOptions) async throws {
        let minutes = Int(result.expiresOn.timeIntervalSinceNow / 60)
        guard let api = options.api else {
            let endpoint = try await WebAPI.userinfoEndpoint(of: result.authority)
            let person = try await WebAPI.get(endpoint, authorization: result.authorizationHeader)
            let address = person["email"] ?? result.account.username
            return print("Ready to read the mail of \(address) for \(minutes) minutes.")
        }
        let folder = try await WebAPI.get(api, authorization: result.authorizationHeader)
        let unread = folder["unreadItemCount"] ?? "0"
        print("\(result.account.username): \(unread) unread of \(folder["totalItemCount"] ?? "?").")
    }

    static func signOut(_ accounts: [Account], of application: PublicClientApplication) async throws {
        for account in accounts {
            try await application.remove(account)
            print("\(account.username) is signed out of this app.")
        }
    }
}
