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
    /// Revokes the refresh tokens at the provider.
    package var revoke = false
    /// Ends the browser's session at the provider.
    package var fromBrowser = false
    /// For the provider's page.
    package var extraQueryParameters: [String: String] = [:]
    package var presentation = Presentation.client
    /// Seconds the browser has.
    package var timeout: Int64 = 120
    package var claimant = QuotaOwner.unidentified
    package var correlationID: String

    package init(partition: Partition, account: AccountReference, correlationID: String) {
        self.partition = partition
        self.account = account
        self.correlationID = correlationID
    }
}
