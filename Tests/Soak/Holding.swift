import BrokerTestSupport
import BrokerValues
import DevIdentityProvider

/// An account signed in to an app, whose tokens no other may receive.
struct Holding: Sendable {
    let app: String
    let clientID: String
    let person: Person
    let provider: RunningProvider
    var accountID = ""

    static let scope = "notes.read"

    func register(with broker: BrokerProcess) async throws {
        try await broker.register(app, clientID: clientID, authority: provider.issuer)
    }

    mutating func signIn(with broker: BrokerProcess, in bed: TestBed) async throws {
        let (provider, person) = (provider, person)
        accountID = try await broker.signIn(app: app, scopes: [Self.scope], in: bed) {
            try await provider.signIn(person, at: $0, in: bed)
        }.accountID
    }

    func request(_ more: JSONObject = [:]) -> JSONObject {
        let params: JSONObject = [
            "app": .string(app), "scopes": [.string(Self.scope)], "account": ["id": .string(accountID)],
        ]
        return params.merging(more) { $1 }
    }

    /// - Returns: the error in an answer; `nil` if the provider issued the token to this person and client.
    func objection(to answer: JSONObject) -> String? {
        guard let token = answer["accessToken"]?.stringValue else { return "\(app): an answer without a token" }
        guard let holder = provider.holder(of: token) else { return "\(app): a token that its provider never gave" }
        guard holder.username == person.name, holder.clientID == clientID else {
            return "\(app): \(person.name) was handed the token of \(holder.username) for \(holder.clientID)"
        }
        return nil
    }
}
