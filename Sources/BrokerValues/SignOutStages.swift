/// The outcome of each part of a sign-out. A later stage runs even if an earlier one failed.
package struct SignOutStages: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case done
        /// Not requested.
        case skipped
        /// One sentence for the user.
        case failed(String)
    }

    /// The app's tokens are gone and the account is signed out for it.
    package var local = Outcome.skipped
    /// All apps' tokens of the account are gone.
    package var wipe = Outcome.skipped
    /// RFC 7009.
    package var revocation = Outcome.skipped
    /// OpenID Connect RP-Initiated Logout 1.0.
    package var browser = Outcome.skipped

    package init() {}
}
