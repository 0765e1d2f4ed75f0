import BrokerModel
import BrokerValues

/// The numbers of asking and agreeing. Pure.
package enum GrantRules {
    /// Of one person.
    static let openRequests = 64
    static let openRequestsOfOneCaller = 8
    /// Of all unnamed callers together (``QuotaOwner/isUnnamed``).
    static let openRequestsOfUnnamed = 16
    /// How often a request may grow: the person is told each time.
    static let extensions = 8
    /// Grants of one person.
    static let grants = 1024
    static let refusals = 256
    /// Seconds that a request waits for an answer.
    static let requestLifetime: NumericDate = 3600
    /// How long uses are counted in memory before they are written; a crash loses as much.
    static let writingInterval = Duration.seconds(30)

    /// Whether the person is shown all of them.
    static func areShown(_ scopes: Scopes?) -> Bool {
        guard let scopes = scopes?.asGiven else { return true }
        return scopes.count <= QuestionLimits.scopes
            && scopes.reduce(0) { $0 + $1.utf8.count + 2 } <= QuestionLimits.scopeBytes
    }

    /// - Throws: `invalidParameter` for what a person would not be shown whole, and as it is.
    static func check(_ part: GrantedPart, of app: AppRegistration) throws(BrokerError) {
        guard areShown(part.scopes) else {
            throw tooMuch(
                "many scopes; ask for at most \(QuestionLimits.scopes) at a time, \(QuestionLimits.scopeBytes) bytes in all",
                app)
        }
        guard app.authority.url.utf8.count <= QuestionLimits.authority else {
            throw tooMuch("long an authority; use one of at most \(QuestionLimits.authority) bytes", app)
        }
        guard app.isAdHoc else { return }
        guard app.clientID.utf8.count <= QuestionLimits.clientID else {
            throw tooMuch("long a client id; use one of at most \(QuestionLimits.clientID) bytes", app)
        }
        guard app.clientID.unicodeScalars.allSatisfy(\.isSafeToShow) else {
            throw BrokerError(
                .invalidParameter,
                "The client id has characters that a person would not see; use the one that is registered."
            ) { $0.app = app.grantName }
        }
    }

    private static func tooMuch(_ what: String, _ app: AppRegistration) -> BrokerError {
        BrokerError(.invalidParameter, "A person cannot be asked about so \(what).") { $0.app = app.grantName }
    }

    /// Ten minutes, twice as long each time, a day at most.
    static func refusalTime(inARow count: Int) -> NumericDate {
        min(600 << NumericDate(min(max(count, 1) - 1, 16)), 86_400)
    }

    /// Seconds that a grant lasts at most; nil for no end.
    ///
    /// A sandbox without a confirmed name is called after its cgroup, and others of that name may come.
    package static func longestLifetime(for caller: CallerIdentity) -> Int64? {
        caller.isUnnamedSandbox ? 12 * 3600 : nil
    }
}
