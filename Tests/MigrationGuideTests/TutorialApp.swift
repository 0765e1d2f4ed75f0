import BrokerClient
import Foundation
import FoundationNetworking

// The code of docs/msal-migration.md, compiled and run. The document contains the text between "guide: NAME" and
// "guide: end" verbatim; GuideTextTests compares the two, GuideTests runs the code.

/// The tutorial's app: signs a user in, asks an API for their identity, and signs them out.
@MainActor final class TutorialApp {
    var scopes = ["notes.read"]
    var log: [String] = []
    var currentAccount: Account?

    // guide: initialize
    let application: PublicClientApplication

    init(clientID: String, authority: String) throws {
        let configuration = PublicClientApplicationConfig(clientId: clientID, authority: authority)
        application = try PublicClientApplication(configuration: configuration)
    }
    // guide: end

    init(_ configuration: PublicClientApplicationConfig) throws {
        application = try PublicClientApplication(configuration: configuration)
    }

    /// The guide's app opens the user's browser; the test reads the page without one.
    var webviewParameters = WebviewParameters()
    var show: @Sendable (DeviceCode) async -> Void = { print($0.message) }

    // guide: registered
    static func registeredApp() throws -> PublicClientApplication {
        try PublicClientApplication(configuration: PublicClientApplicationConfig(app: "notes"))
    }
    // guide: end

    // guide: load
    func loadCurrentAccount() async throws -> Account? {
        currentAccount = try await application.currentAccount().current
        return currentAccount
    }
    // guide: end

    // guide: call
    func callAPI(at url: URL) async throws -> [String: Any] {
        let result: TokenResult
        if let account = try await loadCurrentAccount() {
            result = try await acquireTokenSilently(account)
        } else {
            result = try await acquireTokenInteractively()
        }
        return try await content(of: url, with: result)
    }
    // guide: end

    // guide: interactive
    func acquireTokenInteractively() async throws -> TokenResult {
        var parameters = InteractiveTokenParameters(scopes: scopes, webviewParameters: webviewParameters)
        parameters.promptType = .selectAccount
        let result = try await application.acquireToken(with: parameters)
        currentAccount = result.account
        return result
    }
    // guide: end

    // guide: silent
    func acquireTokenSilently(_ account: Account) async throws -> TokenResult {
        do {
            let parameters = SilentTokenParameters(scopes: scopes, account: account)
            return try await application.acquireTokenSilent(with: parameters)
        } catch {
            // The sign-in is over, the password was changed, consent is missing: error.reason says which.
            guard error.code == .interactionRequired else { throw error }
            return try await acquireTokenInteractively()
        }
    }
    // guide: end

    // guide: request
    func content(of url: URL, with result: TokenResult) async throws -> [String: Any] {
        var request = URLRequest(url: url)
        request.setValue(result.authorizationHeader, forHTTPHeaderField: "Authorization")
        let (data, _) = try await URLSession.shared.data(for: request)
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }
    // guide: end

    // guide: errors
    func tokenOrExplanation(_ parameters: InteractiveTokenParameters) async -> TokenResult? {
        do {
            return try await application.acquireToken(with: parameters)
        } catch {
            switch error.code {
            case .userCanceled:
                log.append("Nothing has changed.")
            case .serverDeclinedScopes:
                let granted = error.grantedScopes ?? []
                log.append("Going on with \(granted.joined(separator: ", ")).")
                guard let account = error.account else { return nil }
                let parameters = SilentTokenParameters(scopes: granted, account: account)
                return try? await application.acquireTokenSilent(with: parameters)
            default:
                // One sentence for a person. The id finds the request in the logs of broker and provider.
                log.append("\(error.message) (\(error.correlationId ?? "no request was made"))")
            }
            return nil
        }
    }
    // guide: end

    // guide: challenge
    func acquireToken(meeting challenge: String, for account: Account) async throws -> TokenResult {
        var silent = SilentTokenParameters(scopes: scopes, account: account)
        silent.claimsRequest = challenge
        do {
            return try await application.acquireTokenSilent(with: silent)
        } catch {
            guard error.code == .interactionRequired else { throw error }
            var parameters = InteractiveTokenParameters(
                scopes: scopes, account: account, webviewParameters: webviewParameters)
            parameters.claimsRequest = error.claimsChallenge ?? challenge
            return try await application.acquireToken(with: parameters)
        }
    }
    // guide: end

    // guide: choose
    func accounts(inTenant tenantId: String) async throws -> [String] {
        var wanted = AccountEnumerationParameters(tenantId: tenantId)
        wanted.returnOnlySignedInAccounts = false
        return try await application.accounts(for: wanted).map { account in
            account.isSignedIn ? account.username : "\(account.username) (signed out)"
        }
    }
    // guide: end

    // guide: signout
    func signOut() async throws {
        guard let account = currentAccount else { return }
        var parameters = SignoutParameters(webviewParameters: webviewParameters)
        parameters.signoutFromBrowser = false
        let stages = try await application.signOut(with: account, parameters: parameters)
        if case .failed(let why) = stages.local { log.append(why) }
        currentAccount = nil
    }
    // guide: end

    // guide: devicecode
    func acquireTokenOverSSH() async throws -> TokenResult {
        let parameters = DeviceCodeParameters(scopes: scopes)
        return try await application.acquireTokenWithDeviceCode(with: parameters) { [show] code in
            await show(code)
        }
    }
    // guide: end

    // guide: events
    func followAccounts() async throws {
        for try await event in try await application.events(of: [.accounts]) {
            guard case .accountSignedOut(let account) = event else { continue }
            log.append("\(account.username) is signed out.")
            return
        }
    }
    // guide: end

    // guide: accounts
    func account(savedAs identifier: String?, formerUserID: String) async throws -> Account? {
        if let identifier { return try await application.account(forIdentifier: identifier) }
        // Once, for an app that kept a user name: look it up, and keep account.identifier from then on.
        return try await application.account(forUsername: formerUserID)
    }
    // guide: end

    // guide: device
    func deviceMode() async throws -> String {
        let information = try await application.deviceInformation()
        return information.mode == .shared ? "shared" : "private"
    }
    // guide: end
}
