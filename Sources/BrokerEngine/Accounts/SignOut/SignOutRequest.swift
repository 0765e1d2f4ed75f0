import BrokerModel
import BrokerValues

/// `accounts.signOut`, after access said yes.
package struct SignOutRequest: Sendable {
    package var partition: Partition
    package var account: AccountReference
    /// Nil for the person's own tools: signs out of every app of every group.
    package var app: AppRegistration?
    /// Takes the account's tokens from all apps of the group.
    package var wipe = false
    /// Makes the refresh tokens worthless at the provider.
    package var revoke = false
    /// Ends the browser's session at the provider.
    package var fromBrowser = false
    package var presentation = Presentation.client
    /// Seconds the browser has.
    package var timeout: Int64 = 120
    package var correlationID: String

    package init(partition: Partition, account: AccountReference, correlationID: String) {
        self.partition = partition
        self.account = account
        self.correlationID = correlationID
    }
}

/// What became of each part of a sign-out. A later stage runs although an earlier one failed.
package struct SignOutStages: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case done
        /// Not asked for.
        case skipped
        /// One sentence for the person.
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
