/// The owner of a uid's records, compared with the uid's present account.
package struct PartitionOwnership: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// The account that owns them has the uid.
        case present
        /// No account has it.
        case gone
        /// Another account has it.
        case otherAccount
        /// The account directory does not answer, or no record names an account.
        case unknown
    }

    /// The present account of a uid.
    package enum Holder: Sendable, Equatable {
        case account(String)
        case nobody
        /// The account directory does not answer.
        case unanswered
    }

    /// The account's name when its first record was written; `nil` if no record names it.
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
