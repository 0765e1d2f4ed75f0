import BrokerValues

/// The numbers of asking and agreeing. Pure.
package enum GrantRules {
    /// Of one person.
    static let openRequests = 64
    static let openRequestsOfOneCaller = 8
    /// Of all unnamed callers together (``Claimant/isUnnamed``).
    static let openRequestsOfUnnamed = 16
    /// How often a request may grow: the person is told each time.
    static let extensions = 8
    /// What one request may name: more is nothing that a person could read.
    static let scopesOfOneRequest = 100
    static let scopeBytesOfOneRequest = 16 << 10
    /// Grants of one person.
    static let grants = 1024
    static let refusals = 256
    /// Seconds that a request waits for an answer.
    static let requestLifetime: NumericDate = 3600
    /// How long uses are counted in memory before they are written; a crash loses as much.
    static let writingInterval = Duration.seconds(30)

    static func canBeAsked(_ part: GrantedPart) -> Bool {
        guard let scopes = part.scopes?.asGiven else { return true }
        return scopes.count <= scopesOfOneRequest
            && scopes.reduce(0) { $0 + $1.utf8.count } <= scopeBytesOfOneRequest
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
