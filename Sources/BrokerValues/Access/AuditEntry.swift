/// A decision or an issued token. A repetition within a few seconds is counted instead of logged again.
package struct AuditEntry: Codable, Sendable, Hashable {
    /// The entry's number, from 1, without gaps.
    package var sequence: Int64 = 0
    /// When the event first happened.
    package var time: NumericDate
    /// How often it happened.
    package var count: Int64 = 1
    /// The end of the counting: the event happened for the last time then, or shortly before. `nil` if it happened once,
    /// and in logs of earlier versions.
    package var until: NumericDate?
    /// The caller; `nil` for the broker itself.
    package var caller: CallerIdentity?
    /// The facts on which the caller was judged.
    package var facts: CallerFacts?
    package var method: String
    package var app: String?
    /// The account's opaque id, not its name.
    package var account: String?
    package var scopes: [String]?
    /// `cached`, `issued`, `done`, or the kind of the error.
    package var outcome: String
    package var reason: String?
    /// The change, in a few words.
    package var detail: String?
    /// The ``Door`` of the request.
    package var door: String?
    /// The correlation id of the request; of the last one, if the entry counts several.
    package var correlationID: String?

    package init(time: NumericDate, method: String, outcome: String) {
        self.time = time
        self.method = method
        self.outcome = outcome
    }
}
