/// How much a person can be asked at once. The page, the notice and the terminal show this much whole; what is longer is not asked.
package enum QuestionLimits {
    /// Of one request.
    package static let scopes = 100
    /// Bytes of all of them, with a separator between two.
    package static let scopeBytes = 2_000
    /// Bytes of a client's id.
    package static let clientID = 200
    /// Bytes of an authority's URL.
    package static let authority = 300

    /// Characters of what else the page shows: the caller, an account, a fact. Whoever has a longer name cannot be allowed there.
    package static let onPage = 1_000
    /// Characters of a notice's title and text: more than that desktops cut. A longer one cannot be allowed there.
    package static let onNotice = 400
}
