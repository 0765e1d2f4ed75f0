import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A broker's report about a vault of one person: it is stored in the packed vault, and later programs must report the same.
struct PackedContent {
    /// One call; throws for an error.
    private let ask: (_ method: String, _ params: JSONObject) async throws -> JSONObject

    init(_ ask: @escaping (String, JSONObject) async throws -> JSONObject) { self.ask = ask }

    /// The lasting part: documents of providers and the audit log grow.
    func ofToday() async throws -> JSONObject {
        var records = try await ask("cache.stats", [:])["records"]?.objectValue ?? [:]
        for name in ["documents", "audit", "clients"] { records[name] = nil }
        return [
            "accounts": try await list("accounts.list", "accounts", ["id", "username", "homeAccountId", "signedIn"]),
            "apps": try await list("apps.list", "apps", ["name", "clientId", "authority"]),
            "grants": try await list("grants.list", "grants", ["id", "caller", "app", "account", "createdOn"]),
            "records": .object(records),
        ]
    }

    /// The tokens in the cache, by app and person.
    static func tokens(of broker: BrokerProcess) async throws -> JSONObject {
        var tokens: JSONObject = [:]
        for (app, person, type) in [
            ("notes", "alice", "Bearer"), ("notes", "bob", "Bearer"), ("mail", "alice", "Bearer"),
            ("agenda", "alice", "DPoP"),
        ] {
            let token = try await broker.acquireSilent(
                app: app, scopes: [DevelopmentScene.scope],
                ["account": ["username": .string(person)], "tokenType": .string(type)])
            #expect(token[path: "fromCache"] == true && token[path: "tokenType"] == .string(type), "\(token)")
            tokens["\(app) \(person)"] = token["accessToken"]
        }
        return tokens
    }

    /// - Parameter packed: the report of the programs of that time.
    func expect(_ packed: JSONObject) async throws {
        let today = try await ofToday()
        let then = try await renamed(packed)
        for name in ["accounts", "apps", "grants"] {
            #expect(today[name]?.arrayValue?.isEmpty == then[name]?.arrayValue?.isEmpty)
            #expect(today[name] == then[name], "\(name)")
        }
        // Some kinds of records may not have existed then.
        for (kind, count) in then["records"]?.objectValue ?? [:] {
            #expect(today["records"]?.objectValue?[kind] == count, "\(kind)")
        }
    }

    /// Replaces the ids from before decision 16, which requests may still contain, with today's.
    private func renamed(_ packed: JSONObject) async throws -> JSONObject {
        var text = String(decoding: try JSONEncoder().encode(packed), as: UTF8.self)
        for account in packed["accounts"]?.arrayValue ?? [] {
            guard case .string(let earlier) = account["id"], earlier.utf8.count == 32 else { continue }
            let found = try await ask("accounts.get", ["account": ["id": .string(earlier)]])
            #expect(found[path: "account.homeAccountId"] == account["homeAccountId"], "\(found)")
            let today = try #require(found[path: "account.id"].stringValue)
            text = text.replacing(earlier, with: today)
        }
        return try JSONDecoder().decode(JSONObject.self, from: Data(text.utf8))
    }

    private func list(_ method: String, _ name: String, _ members: [String]) async throws -> JSONValue {
        let params: JSONObject = method == "accounts.list" ? ["includeSignedOut": true] : [:]
        let items = try await ask(method, params)[name]?.arrayValue ?? []
        return .array(
            items.map { item in
                .object(
                    Dictionary(
                        uniqueKeysWithValues: members.compactMap { name in
                            item.objectValue?[name].map { (name, $0) }
                        }))
            })
    }
}
