/// The result of an erasure.
package struct ErasureReport: Sendable, Equatable {
    /// Users, each counted once regardless of the number of groups.
    package var accounts = 0
    package var tokens = 0
    /// The revocation of refresh tokens at their providers.
    package var revocation = SignOutStages.Outcome.skipped

    package init() {}
}
