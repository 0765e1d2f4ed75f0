import BrokerAccess
import BrokerModel
import BrokerOIDCAgent
import BrokerRPC
import BrokerValues

/// What a client of oidc-agent asks, as the broker's own methods have it.
struct OIDCAgentQuestion: Sendable {
    let request: AgentRequest
    let method: String
    let params: JSONNode
    /// The app that is meant, if it is known.
    private(set) var app: String?
    /// What is known to be wrong by now: the answer, whatever the method says of its params.
    private(set) var failure: AgentFailure?
    /// The names of the apps that the caller may use, for a list of them.
    private(set) var apps: [String] = []

    /// As long as a request may ask for; a token that would have to live longer is refreshed all the same.
    private static let longest: Int64 = 86_400

    init(_ request: AgentRequest, of caller: Caller, _ names: AppAliases, _ policy: AccessPolicy) {
        self.request = request
        switch request {
        case .token(let asked):
            method = AcquireTokenSilent.name
            (app, failure) = Self.app(asked.subject, of: caller, names, policy)
            params = Self.params(asked, app)
        case .loadedAccounts: (method, params) = (ListApps.name, .object([]))
        case .status, .statusJSON, .check: (method, params) = (GetBrokerStatus.name, .object([]))
        case .lock: (method, params) = (LockBroker.name, .object([]))
        case .unlock(let passphrase):
            method = UnlockBroker.name
            params = .object([JSONMember("passphrase", .string(passphrase.revealed()))])
        }
        switch request {
        case .loadedAccounts, .status, .statusJSON:
            apps = (try? policy.usableApps(by: caller))?.allowed.map(\.name) ?? []
        default: break
        }
    }

    private static func app(
        _ subject: AgentTokenRequest.Subject, of caller: Caller, _ names: AppAliases, _ policy: AccessPolicy
    ) -> (app: String?, AgentFailure?) {
        switch subject {
        case .account(let name): return (names.app(named: name), nil)
        case .issuer(let issuer):
            do throws(BrokerError) {
                let usable = try policy.usableApps(by: caller)
                // Whoever has to be asked about first is asked, where nothing else is meant.
                let fits =
                    [usable.allowed, usable.askable].lazy.map { apps in
                        apps.filter { isSame($0.authority.url, issuer) }.map(\.name)
                    }.first { !$0.isEmpty } ?? []
                return fits.count == 1 ? (fits[0], nil) : (nil, .issuer(issuer, fits: fits))
            } catch {
                return (nil, AgentFailure(error, app: nil))
            }
        }
    }

    /// With or without its last slash.
    private static func isSame(_ authority: String, _ issuer: String) -> Bool {
        func plain(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
        return plain(authority).isExactly(plain(issuer))
    }

    private static func params(_ asked: AgentTokenRequest, _ app: String?) -> JSONNode {
        var members = [
            JSONMember("app", app.map { .string($0) } ?? .null),
            JSONMember("scopes", .array(asked.scopes.map { .string($0) })),
        ]
        if asked.forcesRefresh { members.append(JSONMember("forceRefresh", .bool(true))) }
        if let least = asked.minimumLifetime {
            members.append(JSONMember("minimumLifetime", .number(String(min(least, longest)))))
        }
        if let resource = asked.resource { members.append(JSONMember("resource", .string(resource))) }
        if asked.kind == .id { members.append(JSONMember("lifetimeOf", .string("idToken"))) }
        return .object(members)
    }
}

extension AgentFailure {
    static let shut = AgentFailure(
        "The broker does not listen for programs that ask oidc-agent", toDo: "To switch it on",
        run: "brokerctl config edit")
}
