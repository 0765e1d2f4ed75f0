import BrokerModel
import BrokerValues

/// A request of `accounts.signOut`, after the access check.
package struct SignOutRequest: Sendable {
    package var partition: Partition
    package var account: AccountReference
    /// The app to sign out of; `nil`, for the person's own tools, means every app of every group.
    package var app: AppRegistration?
    /// Whether to remove the account's tokens from all apps of the group.
    package var wipe = false
    /// Whether to revoke the refresh tokens at the provider (RFC 7009).
    package var revoke = false
    /// Whether to end the browser's session at the provider (OpenID Connect RP-Initiated Logout 1.0).
    package var fromBrowser = false
    /// Further parameters of the provider's page.
    package var extraQueryParameters: [String: String] = [:]
    package var presentation = Presentation.client
    /// The seconds within which the browser has to return.
    package var timeout: Int64 = 120
    package var claimant = QuotaOwner.unidentified
    /// ``InteractiveRequest/isOutside``.
    package var isOutside = false
    package var correlationID: String

    package init(partition: Partition, account: AccountReference, correlationID: String) {
        self.partition = partition
        self.account = account
        self.correlationID = correlationID
    }
}
