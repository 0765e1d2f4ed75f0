/// One thing that was decided or handed out. The same thing, done again within a few seconds, is counted and not repeated.
package struct AuditEntry: Codable, Sendable, Hashable {
    /// Counts from 1, without gaps.
    package var sequence: Int64 = 0
    /// When it happened, the first time.
    package var time: NumericDate
    package var count: Int64 = 1
    /// Nil: the broker itself.
    package var caller: CallerIdentity?
    /// What the caller was judged by.
    package var facts: CallerFacts?
    package var method: String
    package var app: String?
    /// The account's opaque id; no name.
    package var account: String?
    package var scopes: [String]?
    /// `cached`, `issued`, `done`, or the kind of the error.
    package var outcome: String
    package var reason: String?
    /// A change in a few words.
    package var detail: String?
    /// By which ``Door`` it was asked for.
    package var door: String?
    /// The last one's, where it was counted.
    package var correlationID: String?

    package init(time: NumericDate, method: String, outcome: String) {
        self.time = time
        self.method = method
        self.outcome = outcome
    }
}
