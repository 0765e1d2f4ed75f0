import BrokerModel

/// The request of an oidc-agent client. Each connection has one.
package enum AgentRequest: Sendable, Equatable {
    case token(AgentTokenRequest)
    case loadedAccounts
    case status
    case statusJSON
    /// Asks whether there is an agent.
    case check
    case lock(passphrase: Secret)
    case unlock(passphrase: Secret)
}

extension AgentRequest {
    /// Whether all apps are searched. There may be thousands, and no other request may wait for that.
    package var looksThroughApps: Bool {
        switch self {
        case .token(let asked): if case .issuer = asked.subject { true } else { false }
        case .loadedAccounts, .status, .statusJSON: true
        case .check, .lock, .unlock: false
        }
    }
}

package struct AgentTokenRequest: Sendable, Equatable {
    package enum Kind: Sendable { case access, id }

    package enum Subject: Sendable, Equatable {
        /// The name of an app, or an alias of it.
        case account(String)
        /// The authority of an app, with or without a trailing slash.
        case issuer(String)
    }

    package var kind: Kind
    package var subject: Subject
    /// The minimum remaining lifetime in seconds; `nil` if the client does not say.
    package var minimumLifetime: Int64?
    package var forcesRefresh = false
    /// The wanted scopes, which are a part of the app's; empty for all of them.
    package var scopes: [String] = []
    /// The resource that the token is for (RFC 8707, section 2).
    package var resource: String?
    /// The program's own description of itself: for people to read, never for a decision.
    package var hint: String?

    package init(
        _ kind: Kind, _ subject: Subject, minimumLifetime: Int64? = nil, forcesRefresh: Bool = false,
        scopes: [String] = [], resource: String? = nil, hint: String? = nil
    ) {
        (self.kind, self.subject) = (kind, subject)
        (self.minimumLifetime, self.forcesRefresh) = (minimumLifetime, forcesRefresh)
        (self.scopes, self.resource, self.hint) = (scopes, resource, hint)
    }
}
