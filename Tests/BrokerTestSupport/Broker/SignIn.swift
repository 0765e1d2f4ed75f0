import BrokerValues
import Foundation

/// How an interactive acquisition went: what the app got, and what the person saw last.
package struct SignIn: Sendable {
    package var token: JSONObject
    /// What the broker told the client to open (`interaction.open`); empty where another one's window was joined.
    package var opening: JSONObject
    /// The broker's page after the redirect.
    package var page: HTTPReply?

    package var accessToken: String { token["accessToken"]?.stringValue ?? "" }
    package var accountID: String { token["account"]?.objectValue?["id"]?.stringValue ?? "" }
}

extension BrokerProcess {
    /// Makes an app known under a name, with a client id at a provider.
    @discardableResult
    package func register(
        _ name: String, clientID: String, authority: String, _ more: JSONObject = [:]
    ) async throws -> JSONObject {
        let params: JSONObject = [
            "name": .string(name), "clientId": .string(clientID), "authority": .string(authority),
        ]
        return try await call("apps.register", params.merging(more) { $1 })
    }

    /// Acquires a token interactively; `person` does at the provider what the URL is opened for, and what the provider
    /// answers is brought to the broker's redirect URI.
    package func signIn(
        app: String, scopes: [String] = ["api"], _ more: JSONObject = [:], in bed: TestBed,
        person: @escaping @Sendable (_ url: String) async throws -> ProviderRedirect
    ) async throws -> SignIn {
        try await interact(app: app, scopes: scopes, more) { url in
            // As a browser does: where the broker sends it on, the person goes on there.
            var page = try await HTTPSession(in: bed).get(person(url).url)
            while let next = page.header("location") { page = try await HTTPSession(in: bed).get(person(next).url) }
            return page
        }
    }

    /// Acquires a token interactively; `visit` does everything from opening the URL on, and gives the last page.
    package func interact(
        app: String, scopes: [String] = ["api"], _ more: JSONObject = [:],
        visit: @escaping @Sendable (_ url: String) async throws -> HTTPReply?
    ) async throws -> SignIn {
        let params: JSONObject = ["app": .string(app), "scopes": .array(scopes.map { .string($0) })]
        return try await interact(params.merging(more) { $1 }, visit: visit)
    }

    /// As the other one, of whatever app the params name.
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
                // Nobody will come back with a redirect: end the wait for the answer.
                await connection.close()
                throw error
            }
        }
        do {
            let token = try await connection.call("token.acquireInteractive", params)
            // Who joined another one's window is asked to open none: there is no more to come.
            await connection.close()
            let (opening, page) = try await person.value
            return SignIn(token: token, opening: opening, page: page)
        } catch {
            await connection.close()
            // What went wrong on the person's side comes first; it may be the reason for the other.
            _ = try await person.value
            throw error
        }
    }

    /// Asks for a token of a registered app without anybody there.
    package func acquireSilent(
        app: String, scopes: [String] = ["api"], _ more: JSONObject = [:]
    ) async throws -> JSONObject {
        let params: JSONObject = ["app": .string(app), "scopes": .array(scopes.map { .string($0) })]
        return try await call("token.acquireSilent", params.merging(more) { $1 })
    }
}
