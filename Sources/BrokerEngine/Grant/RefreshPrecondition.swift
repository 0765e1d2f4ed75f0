import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// The state when a refresh began. If the person signs out or signs in again while it is in flight, its result is not
/// kept: only others that have the same refresh token get its successor.
struct RefreshPrecondition: Sendable {
    let spent: StoredRecord<RefreshTokenRecord>
    let owner: OwnerKey
    let app: AppRegistration
    /// The app, and those that share its tokens (docs/decisions/0016).
    private let users: [GroupMember]

    enum Standing: Sendable, Equatable {
        case valid
        case signedOut
        /// Another grant has replaced the token.
        case replaced
    }

    /// The cause of the error of a refresh whose token was replaced meanwhile: the new one can be used instead.
    struct Replaced: Error {}

    static let signedOut = BrokerError(
        .interactionRequired, "The account was signed out meanwhile; sign in again.", reason: .signedOut)
    static let replaced = BrokerError(
        .interactionRequired, "The account was signed in anew meanwhile; ask again.", cause: Replaced())

    init(
        spending spent: StoredRecord<RefreshTokenRecord>, by app: AppRegistration, _ roster: any AppRoster,
        _ log: Logger
    ) {
        self.spent = spent
        self.app = app
        owner = OwnerKey(partition: spent.sealed.partition, owner: spent.record.owner)
        var sharing: [GroupMember] = []
        do throws(BrokerError) {
            sharing = try roster.members(of: app.effectiveGroup, in: owner.partition)
        } catch {
            // An app that has signed out gets nothing back on the mere chance that another one shares its client.
            log.error(
                "the apps that share a refreshed token could not be determined", metadata: ["cause": "\(error)"])
        }
        users =
            [GroupMember(app)] + sharing.filter { $0.clientID.isExactly(app.clientID) && $0.identity != app.identity }
    }

    /// - Parameter thumbprint: of the key that the response is bound to; it does not replace the key of a sign-in that
    ///   came meanwhile (decision 14).
    func standing(in draft: PendingChanges, boundTo thumbprint: String? = nil) throws(VaultError) -> Standing {
        let known = try draft.loadAccounts(of: .init(partition: owner.partition, group: owner.owner.group))
        let isSignedIn = known.profiles(of: KnownAccounts.PersonKey(owner.owner)).contains { entry in
            users.contains { known.isSignedIn(entry, for: $0.identity) }
        }
        guard isSignedIn else { return .signedOut }
        let tokens = try draft.loadTokens(of: owner)
        return tokens.holds(spent) && !tokens.hasKey(otherThan: thumbprint) ? .valid : .replaced
    }

    /// Whether a tenant of the person was already signed in for one of the users.
    func hadSignedIn(_ record: AccountRecord, _ known: KnownAccounts) -> Bool {
        users.contains { known.hasSignedIn(record, for: $0.identity) }
    }
}

extension RefreshPrecondition.Standing {
    /// The error for the caller; `nil` if the response may be kept.
    var error: BrokerError? {
        switch self {
        case .valid: nil
        case .signedOut: RefreshPrecondition.signedOut
        case .replaced: RefreshPrecondition.replaced
        }
    }
}
