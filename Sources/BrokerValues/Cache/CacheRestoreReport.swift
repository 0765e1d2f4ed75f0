/// The outcome of importing a backup.
package struct CacheRestoreReport: Sendable, Equatable {
    package enum Outcome { case added, replaced, kept }

    package struct Tally: Sendable, Equatable {
        package var added = 0
        package var replaced = 0
        /// The records that stay as they are here, or were signed out here.
        package var kept = 0

        package init() {}

        package mutating func count(_ outcome: Outcome) {
            switch outcome {
            case .added: added += 1
            case .replaced: replaced += 1
            case .kept: kept += 1
            }
        }

        fileprivate mutating func add(_ other: Tally) {
            added += other.added
            replaced += other.replaced
            kept += other.kept
        }
    }

    /// When the backup was made.
    package var createdOn: Int64 = 0
    package var apps = Tally()
    package var accounts = Tally()
    package var refreshTokens = Tally()
    package var idTokens = Tally()
    package var proofKeys = Tally()
    package var problems: [String] = []

    package init() {}

    /// Whether nothing was changed.
    package var isIdle: Bool {
        [apps, accounts, refreshTokens, idTokens, proofKeys].allSatisfy { $0.added == 0 && $0.replaced == 0 }
    }

    package mutating func add(_ other: CacheRestoreReport) {
        apps.add(other.apps)
        accounts.add(other.accounts)
        refreshTokens.add(other.refreshTokens)
        idTokens.add(other.idTokens)
        proofKeys.add(other.proofKeys)
        problems += other.problems.filter { !problems.contains($0) }
    }
}
