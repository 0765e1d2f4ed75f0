/// The accounts of this machine.
package protocol AccountNames: Sendable {
    /// May take as long as a directory of accounts on another machine takes, or hangs.
    ///
    /// - Returns: nil where the uid has no account.
    /// - Throws: when it cannot be told now.
    func name(of uid: UInt32) async throws(AccountNamesUnavailable) -> String?
}

package struct AccountNamesUnavailable: Error, Equatable {
    /// An errno value.
    package let code: Int32

    package init(code: Int32) { self.code = code }
}
