/// The account that a request names.
package enum AccountReference: Sendable, Hashable {
    case id(String)
    /// A username, which is compared case-insensitively.
    case username(String)
}
