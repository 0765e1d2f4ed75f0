import BrokerModel
import BrokerValues

/// The limits of requests and grants. Pure.
package enum GrantRules {
    /// The number of open requests of one person.
    static let openRequests = 64
    static let openRequestsOfOneCaller = 8
    /// The number of open requests of all unnamed callers together (``QuotaOwner/isUnnamed``).
    static let openRequestsOfUnnamed = 16
    /// How often a request may grow: the person is notified each time.
    static let extensions = 8
    /// The number of grants of one person.
    static let grants = 1024
    static let refusals = 256
    /// Seconds that a request waits for an answer.
    static let requestLifetime: NumericDate = 3600
    /// How long uses are counted in memory before they are written; a crash loses the uses of that time.
    static let writingInterval = Duration.seconds(30)

    /// Whether all of the scopes can be shown to the person.
    static func areShown(_ scopes: Scopes?) -> Bool {
        guard let scopes = scopes?.asGiven else { return true }
        return scopes.count <= QuestionLimits.scopes
            && scopes.reduce(0) { $0 + $1.utf8.count + 2 } <= QuestionLimits.scopeBytes
    }

    /// - Throws: `invalidParameter` for a part that the person would not see in full and unaltered.
    static func check(_ part: GrantedPart, of app: AppRegistration) throws(BrokerError) {
        guard areShown(part.scopes) else {
            throw tooMuch(
                "many scopes; ask for at most \(QuestionLimits.scopes) at a time, \(QuestionLimits.scopeBytes) bytes in all",
                app)
        }
        guard part.accountID?.utf8.count ?? 0 <= QuestionLimits.account else {
            throw tooMuch("long a name of an account; name it by its id", app)
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

    /// The seconds for which a refusal is remembered: ten minutes, doubled for each refusal in a row, at most a day.
    static func refusalTime(inARow count: Int) -> NumericDate {
        min(600 << NumericDate(min(max(count, 1) - 1, 16)), 86_400)
    }

    /// The longest lifetime of a grant in seconds; `nil` for no end.
    ///
    /// A sandbox without a confirmed name is named after its cgroup, and others of that name may follow.
    package static func longestLifetime(for caller: CallerIdentity) -> Int64? {
        caller.isUnnamedSandbox ? 12 * 3600 : nil
    }
}
