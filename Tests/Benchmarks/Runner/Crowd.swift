import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import BrokerVault
import Foundation

/// The accounts of one app, as many sign-ins would leave them, written without signing in ten thousand times.
struct Crowd: CustomStringConvertible {
    var accounts: Int
    var tokensEach: Int

    static let app = "crowd"
    static let authority = "https://login.example"

    var description: String {
        accounts == 1
            ? "\(tokensEach) tokens of one account" : "\(accounts) accounts, \(accounts * tokensEach) tokens of one app"
    }

    /// For an account and a token in the middle.
    func request() -> [UInt8] {
        var params = AcquireTokenSilent.Params(.registered(Self.app), scopes: ["scope-\(tokensEach / 2)"])
        params.query.account = .username("person-\(accounts / 2)")
        return AcquireTokenSilent.requestLine(id: 1, params)
    }

    func fill(_ state: String) async throws {
        let vault = try await Vault.open(in: state)
        let partition = Partition(uid: getuid())
        let secret = Secret(String(repeating: "t", count: 1200))
        var change = VaultChange(in: partition)
        for person in 0..<accounts {
            let owner = TokenOwner(
                group: GroupID(rawValue: "app:\(Self.app)"), clientID: Self.app,
                homeAccountID: HomeAccountID(subject: "person-\(person)", issuer: Self.authority),
                environment: "login.example")
            let account = AccountRecord(
                group: owner.group, homeAccountID: owner.homeAccountID, environment: owner.environment, realm: "",
                authority: Self.authority, username: "person-\(person)", createdAt: 1)
            change.puts.append(try vault.seal(account, secret: nil, in: partition).sealed)
            for number in 0..<tokensEach {
                let token = AccessTokenRecord(
                    owner: owner, realm: "", scopes: ["scope-\(number)"], tokenType: .bearer,
                    authority: Self.authority, expiresOn: 4_000_000_000, cachedAt: 1)
                change.puts.append(try vault.seal(token, secret: secret, in: partition).sealed)
            }
            guard change.puts.count > 2_000 || person == accounts - 1 else { continue }
            try await vault.commit(change)
            change.puts = []
        }
        await vault.close()
    }
}
