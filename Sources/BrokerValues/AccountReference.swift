/// The account that a request names.
package enum AccountReference: Sendable, Hashable {
    case id(String)
    /// Compared case-insensitively.
    case username(String)
}
