import BrokerValues
import Foundation

/// The outcome of an interactive acquisition: the app's result, and the last page that the person saw.
package struct SignIn: Sendable {
    package var token: JSONObject
    /// The broker's `interaction.open`; empty if another request's window was joined.
    package var opening: JSONObject
    /// The broker's page after the redirect.
    package var page: HTTPReply?

    package var accessToken: String { token["accessToken"]?.stringValue ?? "" }
    package var accountID: String { token["account"]?.objectValue?["id"]?.stringValue ?? "" }
}

extension BrokerProcess {
    /// Registers an app under a name, with a client id at a provider.
    @discardableResult
    package func register(
        _ name: String, clientID: String, authority: String, _ more: JSONObject = [:]
    ) async throws -> JSONObject {
        let params: JSONObject = [
            "name": .string(name), "clientId": .string(clientID), "authority": .string(authority),
        ]
        return try await call("apps.register", params.merging(more) { $1 })
    }

    /// Acquires a token interactively; `person` acts at the provider on the opened URL, and the provider's response is
    /// delivered to the broker's redirect URI.
    package func signIn(
        app: String, scopes: [String] = ["api"], _ more: JSONObject = [:], in bed: TestBed,
        person: @escaping @Sendable (_ url: String) async throws -> ProviderRedirect
    ) async throws -> SignIn {
        try await interact(app: app, scopes: scopes, more) { url in
            // Like a browser, the person follows the broker's redirect.
            var page = try await HTTPSession(in: bed).get(person(url).url)
            while let next = page.header("location") { page = try await HTTPSession(in: bed).get(person(next).url) }
            return page
        }
    }

    /// Acquires a token interactively; `visit` does everything from opening the URL on, and returns the last page.
    package func interact(
        app: String, scopes: [String] = ["api"], _ more: JSONObject = [:],
        visit: @escaping @Sendable (_ url: String) async throws -> HTTPReply?
    ) async throws -> SignIn {
        let params: JSONObject = ["app": .string(app), "scopes": .array(scopes.map { .string($0) })]
        return try await interact(params.merging(more) { $1 }, visit: visit)
    }

    /// Like the other one, for the app in the params.
    package func interact(
        _ params: JSONObject, visit: @escaping @Sendable (_ url: String) async throws -> HTTPReply?
    ) async throws -> SignIn {
        let connection = try await connect()
        let person = Task { () -> (JSONObject, HTTPReply?) in
            do {
                while let message = await connection.nextNotification() {
                    guard message["method"] == "interaction.open" else { continue }
                    let opening = message["params"]?.objectValue ?? [:]
                    return (opening, try await visit(opening["url"]?.stringValue ?? ""))
                }
                return ([:], nil)
            } catch {
                // No redirect will arrive: end the wait for the answer.
                await connection.close()
                throw error
            }
        }
        do {
            let token = try await connection.call("token.acquireInteractive", params)
            // A joined request opens no window: nothing more will come.
            await connection.close()
            let (opening, page) = try await person.value
            return SignIn(token: token, opening: opening, page: page)
        } catch {
            await connection.close()
            // An error on the person's side comes first; it may have caused the other.
            _ = try await person.value
            throw error
        }
    }

    /// Requests a token of a registered app without a person.
    package func acquireSilent(
        app: String, scopes: [String] = ["api"], _ more: JSONObject = [:]
    ) async throws -> JSONObject {
        let params: JSONObject = ["app": .string(app), "scopes": .array(scopes.map { .string($0) })]
        return try await call("token.acquireSilent", params.merging(more) { $1 })
    }
}
