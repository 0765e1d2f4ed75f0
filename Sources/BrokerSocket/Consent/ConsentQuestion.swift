import BrokerValues

/// The consent question about one caller: all its current requests.
package struct ConsentQuestion: Sendable {
    package struct Request: Sendable {
        package var app: String
        /// For a client without a registration.
        package var clientID: String?
        /// URL of the app's or client's authority.
        package var authority: String?
        /// The display name; `nil` for every account.
        package var account: String?
        /// The display names of all current accounts, if none is named.
        package var people: [String]
        /// `nil` for everything that the app may access.
        package var scopes: [String]?

        package init(
            app: String, clientID: String? = nil, authority: String? = nil, account: String?, people: [String] = [],
            scopes: [String]?
        ) {
            self.app = app
            self.clientID = clientID
            self.authority = authority
            self.account = account
            self.people = people
            self.scopes = scopes
        }
    }

    package var caller: CallerIdentity
    package var facts: CallerFacts
    package var requests: [Request]

    package init(caller: CallerIdentity, facts: CallerFacts, requests: [Request]) {
        self.caller = caller
        self.facts = facts
        self.requests = requests
    }
}

package enum ConsentAnswer: Sendable, Equatable {
    case denied
    /// In seconds; `nil` for the longest lifetime that the rules allow.
    case allowed(lifetime: Int64?)
}

/// The final page after the user's answer.
package enum ConsentOutcome: Sendable, Equatable {
    case allowed
    case denied
    /// The question was answered elsewhere, timed out, or the answer could not be written; with the reason.
    case failed(String)
}
