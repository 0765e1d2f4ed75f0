/// The size limits of a question to the user. Page, notification and terminal show this much in full; longer questions are not
/// asked.
package enum QuestionLimits {
    /// Per request.
    package static let scopes = 100
    /// In bytes, for all of them, with a separator between two.
    package static let scopeBytes = 2_000
    /// A client's id, in bytes.
    package static let clientID = 200
    /// An authority's URL, in bytes.
    package static let authority = 300

    /// Characters of other texts on the page: the caller, an account, a fact. A caller with a longer name cannot be allowed
    /// there.
    package static let onPage = 1_000
    /// Characters of a notification's title and text: desktops truncate longer ones. A longer one cannot be allowed there.
    package static let onNotice = 400
}
