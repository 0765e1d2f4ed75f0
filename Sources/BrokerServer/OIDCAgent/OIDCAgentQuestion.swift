import BrokerAccess
import BrokerModel
import BrokerOIDCAgent
import BrokerRPC
import BrokerValues

/// The request of an oidc-agent client, in terms of the broker's own methods.
struct OIDCAgentQuestion: Sendable {
    let request: AgentRequest
    let method: String
    let params: JSONNode
    /// The requested app, if it is known.
    private(set) var app: String?
    /// An error known by now, for log and audit, and for the client.
    private(set) var error: BrokerError?
    private(set) var failure: AgentFailure?
    /// The names of the apps that the caller may use, for a list of them.
    private(set) var apps: [String] = []

    /// The longest lifetime that a request may ask for; a token that would have to live longer is refreshed all the same.
    private static let longest: Int64 = 86_400

    init(_ request: AgentRequest, of caller: Caller, _ names: AppAliases, _ policy: AccessPolicy) {
        var request = request
        var isNarrow = false
        if case .token(var asked) = request {
            isNarrow = asked.kind == .access && !asked.scopes.isEmpty
            // Clients of an agent also name scopes that the broker adds by itself.
            asked.scopes = Scopes(asked.scopes).subtracting(Scopes.reserved).asGiven
            request = .token(asked)
        }
        self.request = request
        switch request {
        case .token(let asked):
            method = AcquireTokenSilent.name
            do throws(Miss) {
                app = try Self.app(asked.subject, of: caller, names, policy)
            } catch {
                (self.error, failure) = (error.error, error.failure)
            }
            params = Self.params(asked, app, isNarrow: isNarrow)
        case .loadedAccounts, .status, .statusJSON, .check: (method, params) = (GetBrokerStatus.name, .object([]))
        case .lock: (method, params) = (LockBroker.name, .object([]))
        case .unlock(let passphrase):
            method = UnlockBroker.name
            params = .object([JSONMember("passphrase", .string(passphrase.revealed()))])
        }
        switch request {
        case .loadedAccounts, .status, .statusJSON:
            do throws(BrokerError) { apps = try policy.usableApps(by: caller).allowed.map(\.name) } catch {
                // A status is complete without them.
                if case .loadedAccounts = request { self.error = error }
            }
        default: break
        }
    }

    private static func app(
        _ subject: AgentTokenRequest.Subject, of caller: Caller, _ names: AppAliases, _ policy: AccessPolicy
    ) throws(Miss) -> String {
        switch subject {
        case .account(let name):
            // An alias never hides a registered app's name.
            guard let other = names.app(calledAlso: name), !policy.isRegistered(name, for: caller) else { return name }
            return other
        case .issuer(let issuer):
            let usable: UsableApps
            do throws(BrokerError) { usable = try policy.usableApps(by: caller) } catch {
                throw Miss(error: error, failure: AgentFailure(error, app: nil))
            }
            // An app that needs a question to the person is used only if no other app fits.
            let fits =
                [usable.allowed, usable.askable].lazy.map { apps in
                    apps.filter { $0.authority.isNamed(by: issuer) }.map(\.name)
                }.first { !$0.isEmpty } ?? []
            guard let app = fits.first, fits.count == 1 else { throw noSingle(of: fits, at: issuer) }
            return app
        }
    }

    private static func noSingle(of fits: [String], at issuer: String) -> Miss {
        let failure = AgentFailure.issuer(issuer, fits: fits)
        return Miss(
            error: BrokerError(fits.isEmpty ? .appNotFound : .invalidParameter, "\(failure.error)."), failure: failure)
    }

    /// The request does not identify a single app.
    private struct Miss: Error {
        let error: BrokerError
        let failure: AgentFailure
    }

    private static func params(_ asked: AgentTokenRequest, _ app: String?, isNarrow: Bool) -> JSONNode {
        var members = [
            JSONMember("app", app.map { .string($0) } ?? .null),
            JSONMember("scopes", .array(asked.scopes.map { .string($0) })),
        ]
        if isNarrow { members.append(JSONMember("narrow", .bool(true))) }
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
