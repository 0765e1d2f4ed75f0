/// The accounts of this machine.
package protocol AccountNames: Sendable {
    /// May take as long as a directory service on another machine takes, or hang.
    ///
    /// - Returns: nil if the uid has no account.
    /// - Throws: if the account cannot be looked up now.
    func name(of uid: UInt32) async throws(AccountNamesUnavailable) -> String?
}

package struct AccountNamesUnavailable: Error, Equatable {
    /// An errno value.
    package let code: Int32

    package init(code: Int32) { self.code = code }
}
