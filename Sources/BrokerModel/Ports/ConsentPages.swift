import BrokerValues

/// What a person is asked about one caller: everything that it asks for at the moment.
package struct ConsentQuestion: Sendable {
    package struct Request: Sendable {
        package var app: String
        /// Of a client without a registration.
        package var clientID: String?
        /// URL of the app's or client's authority.
        package var authority: String?
        /// What people call it; nil for every account.
        package var account: String?
        /// What people call every account that there is now, where none is named.
        package var people: [String]
        /// Nil for everything the app may.
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
    /// For so many seconds; nil for as long as the rules allow.
    case allowed(lifetime: Int64?)
}

/// What the person reads when they have answered.
package enum ConsentOutcome: Sendable, Equatable {
    case allowed
    case denied
    /// It was answered elsewhere, took too long, or could not be written: why.
    case failed(String)
}

/// Shows questions in the person's browser.
package protocol ConsentPages: Sendable {
    /// - Parameter answer: called once at most.
    func open(
        _ question: ConsentQuestion, answer: @escaping @Sendable (ConsentAnswer) async -> ConsentOutcome
    ) async throws(RedirectError) -> any ConsentPage
}

package protocol ConsentPage: Sendable {
    /// Whoever has it may see the question: it is for the browser only.
    var url: String { get }
    /// Stops listening; a page under way is still delivered.
    func close() async
}
