import BrokerModel
import BrokerValues

/// An event of an account, a token or a sign-in. It names accounts; it carries no secret.
package struct EngineEvent: Sendable {
    package var partition: Partition
    /// The app whose request caused it. Subscribers outside its group are not notified.
    package var app: AppRegistration
    package var change: Change
    /// Whether the provider reported it, without a request from here.
    package var isReportedByProvider: Bool

    package enum Change: Sendable {
        case account(AccountChange, Account)
        case token(TokenChange, accountID: String, scopes: [String], expiresOn: NumericDate?)
        /// - from: the user who asked from another machine.
        case interaction(InteractionChange, id: String, from: String?, error: ErrorKind?)
    }

    package init(partition: Partition, app: AppRegistration, _ change: Change, isReportedByProvider: Bool = false) {
        self.isReportedByProvider = isReportedByProvider
        self.partition = partition
        self.app = app
        self.change = change
    }

    var group: GroupID { app.effectiveGroup }

    package var topic: EventTopic {
        switch change {
        case .account: .account
        case .token: .token
        case .interaction: .interaction
        }
    }
}
