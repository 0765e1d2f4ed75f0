/// What an erasure took.
package struct ErasureReport: Sendable, Equatable {
    /// People, each counted once however many groups knew them.
    package var accounts = 0
    package var tokens = 0
    /// Of the refresh tokens, at their providers.
    package var revocation = SignOutStages.Outcome.skipped

    package init() {}
}
