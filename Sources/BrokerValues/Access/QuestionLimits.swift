/// The size limits of a question to the user. Page, notification and terminal show this much in full; longer questions are not
/// asked.
package enum QuestionLimits {
    /// The number of scopes of a request.
    package static let scopes = 100
    /// The bytes of all scopes together, with a separator between two.
    package static let scopeBytes = 2_000
    /// The bytes of a client's id.
    package static let clientID = 200
    /// The bytes of an account's id, or of the name in its place.
    package static let account = 256
    /// The bytes of an authority's URL.
    package static let authority = 300

    /// The characters of other texts on the page: the caller, an account, a fact. A caller with a longer name cannot be allowed
    /// there.
    package static let onPage = 1_000
    /// The characters of a notification's title and text: desktops truncate longer ones. A request with a longer text cannot be
    /// allowed there.
    package static let onNotice = 400
}
