/// Whose the records of a uid are, compared with who has the uid now.
package struct PartitionOwnership: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// The account that they are of has the uid.
        case present
        /// No account has it.
        case gone
        /// Another account has it.
        case otherAccount
        /// The directory of accounts does not answer, or no record names an account.
        case unknown
    }

    /// Who has a uid now.
    package enum Holder: Sendable, Equatable {
        case account(String)
        case nobody
        /// The directory of accounts does not answer.
        case unanswered
    }

    /// The account's name when its first record was written; nil where no record names it.
    package let account: String?
    package let state: State

    package init(account: String?, holder: Holder) {
        self.account = account
        state =
            switch (account, holder) {
            case (nil, _), (_, .unanswered): .unknown
            case (_, .nobody): .gone
            case (let account?, .account(let name)): account == name ? .present : .otherAccount
            }
    }
}
