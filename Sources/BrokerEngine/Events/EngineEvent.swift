import BrokerModel
import BrokerValues

/// Something that happened to an account, a token or a sign-in. It names accounts; it carries no secret.
package struct EngineEvent: Sendable {
    package var partition: Partition
    /// The app on whose request it happened. Who is not of its group is not told.
    package var app: AppRegistration
    package var change: Change
    /// Nobody here asked for it: the provider said so.
    package var isProvidersWord: Bool

    package enum Change: Sendable {
        case account(AccountChange, Account)
        case token(TokenChange, accountID: String, scopes: [String], expiresOn: NumericDate?)
        /// - from: who asked from another machine.
        case interaction(InteractionChange, id: String, from: String?, error: ErrorKind?)
    }

    package init(partition: Partition, app: AppRegistration, _ change: Change, isProvidersWord: Bool = false) {
        self.isProvidersWord = isProvidersWord
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
