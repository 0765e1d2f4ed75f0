import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import BrokerVault
import Foundation

/// The accounts of one app, as after many sign-ins, written without signing in ten thousand times.
struct Crowd: CustomStringConvertible {
    var app = "crowd"
    /// People are numbered.
    var people: Range<Int>
    var tokensEach: Int
    var authority = "https://login.example"
    /// One per person; without it no person has one.
    var refreshToken: (@Sendable (Int) -> String)?

    static let clientID = "crowd"

    var description: String {
        people.count == 1
            ? "\(tokensEach) tokens of one account"
            : "\(people.count) accounts, \(people.count * tokensEach) tokens of one app"
    }

    /// Requests an account and a token in the middle.
    func request() -> [UInt8] { request(for: people.lowerBound + people.count / 2) }

    /// Requests a token in the middle.
    func request(for person: Int, claims: String? = nil, forceRefresh: Bool = false) -> [UInt8] {
        var params = AcquireTokenSilent.Params(.registered(app), scopes: ["scope-\(tokensEach / 2)"])
        params.query.claims = claims
        params.query.account = .username(Self.name(person))
        params.forceRefresh = forceRefresh
        return AcquireTokenSilent.requestLine(id: 1, params)
    }

    func register(at broker: BrokerProcess) async throws {
        try await broker.register(app, clientID: Self.clientID, authority: authority)
    }

    static func name(_ person: Int) -> String { "person-\(person)" }

    func fill(_ state: String) async throws {
        let vault = try await Vault.open(in: state)
        let partition = Partition(uid: getuid())
        let environment = try Authority(parsing: authority, allowHTTPLoopback: true).environment
        let secret = Secret(String(repeating: "t", count: 1200))
        var change = VaultChange(in: partition)
        for person in people {
            let owner = TokenOwner(
                group: GroupID(rawValue: "app:\(app)"), clientID: Self.clientID,
                homeAccountID: HomeAccountID(subject: Self.name(person), issuer: authority),
                environment: environment)
            let account = AccountRecord(
                group: owner.group, homeAccountID: owner.homeAccountID, environment: owner.environment, realm: "",
                authority: authority, username: Self.name(person), createdAt: 1)
            change.puts.append(try vault.seal(account, secret: nil, in: partition).sealed)
            for number in 0..<tokensEach {
                let token = AccessTokenRecord(
                    owner: owner, realm: "", scopes: ["scope-\(number)"], tokenType: .bearer,
                    authority: authority, expiresOn: 4_000_000_000, cachedAt: 1)
                change.puts.append(try vault.seal(token, secret: secret, in: partition).sealed)
            }
            if let refreshToken {
                let scopes = ["offline_access", "openid"] + (0..<tokensEach).map { "scope-\($0)" }
                let token = RefreshTokenRecord(owner: owner, authority: authority, scopes: scopes, cachedAt: 1)
                change.puts.append(
                    try vault.seal(token, secret: Secret(refreshToken(person)), in: partition).sealed)
            }
            guard change.puts.count > 2_000 || person == people.last else { continue }
            try await vault.commit(change)
            change.puts = []
        }
        await vault.close()
    }
}
