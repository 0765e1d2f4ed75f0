/// The outcome of each part of a sign-out. A later stage runs even if an earlier one failed.
package struct SignOutStages: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case done
        /// The stage was not requested.
        case skipped
        /// The stage failed, for the reason in this sentence for the user.
        case failed(String)
    }

    /// Removing the app's tokens, and signing the account out of it.
    package var local = Outcome.skipped
    /// Removing the account's tokens from all apps.
    package var wipe = Outcome.skipped
    /// Revoking the refresh tokens at the provider (RFC 7009).
    package var revocation = Outcome.skipped
    /// Ending the browser's session at the provider (OpenID Connect RP-Initiated Logout 1.0).
    package var browser = Outcome.skipped

    package init() {}
}
