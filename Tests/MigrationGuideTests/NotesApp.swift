import BrokerClient
import Foundation
import FoundationNetworking

// The code of the article FirstToken in the library's documentation, compiled; GuideTextTests compares the two.

// guide: token
struct Notes: Sendable {
    let application: PublicClientApplication
    let scopes = ["notes.read"]

    init() throws {
        application = try PublicClientApplication(configuration: PublicClientApplicationConfig(app: "notes"))
    }

    func token() async throws -> TokenResult {
        do {
            return try await application.acquireTokenSilent(with: SilentTokenParameters(scopes: scopes))
        } catch {
            guard error.code == .interactionRequired else { throw error }
            return try await application.acquireToken(with: InteractiveTokenParameters(scopes: scopes))
        }
    }
}
// guide: end

// guide: call
extension Notes {
    func load(from url: URL) async throws -> Data {
        var request = URLRequest(url: url)
        request.setValue(try await token().authorizationHeader, forHTTPHeaderField: "Authorization")
        return try await URLSession.shared.data(for: request).0
    }
}
// guide: end
