/// The account a request means.
package enum AccountReference: Sendable, Hashable {
    case id(String)
    /// Compared without case.
    case username(String)
}
