import BrokerModel
import BrokerValues

/// What a refresh was begun with. While it was under way the person may have signed out, or signed in again: then what it
/// brings is not kept.
struct RefreshPrecondition: Sendable {
    let spent: StoredRecord<RefreshTokenRecord>
    let owner: CacheIndex.OwnerKey
    /// The app, and those that share its tokens (docs/decisions/0004).
    private let users: [GroupMember]

    enum Standing: Sendable, Equatable {
        case valid
        case signedOut
        /// Another grant has taken the token's place.
        case replaced
    }

    /// The cause of the error that a refresh ends with when its token was replaced meanwhile: the new one does better.
    struct Replaced: Error {}

    static let signedOut = BrokerError(
        .interactionRequired, "The account was signed out meanwhile; sign in again.", reason: .signedOut)

    init(
        spending spent: StoredRecord<RefreshTokenRecord>, by app: AppRegistration, in partition: Partition,
        _ services: EngineServices
    ) {
        self.spent = spent
        owner = CacheIndex.OwnerKey(partition: partition, owner: spent.record.owner)
        var sharing: [GroupMember] = []
        do throws(BrokerError) {
            sharing = try services.roster.members(of: app.effectiveGroup, in: partition)
        } catch {
            // An app that has signed out gets nothing back on the mere chance that another one shares its client.
            services.log.error("it is not known who shares a refreshed token", metadata: ["cause": "\(error)"])
        }
        users =
            [GroupMember(app)] + sharing.filter { $0.clientID.isExactly(app.clientID) && $0.identity != app.identity }
    }

    func standing(in draft: PendingChanges) throws(VaultError) -> Standing {
        let known = try draft.loadAccounts(of: .init(partition: owner.partition, group: owner.owner.group))
        let person = KnownAccounts.PersonKey(
            homeAccountID: owner.owner.homeAccountID, environment: owner.owner.environment)
        let isSignedIn = known.profiles(of: person).contains { entry in
            users.contains { known.isSignedIn(entry, for: $0.identity) }
        }
        guard isSignedIn else { return .signedOut }
        return try draft.loadTokens(of: owner).holds(spent) ? .valid : .replaced
    }

    /// Whether a tenant of the person was signed in for one of the users before.
    func hadSignedIn(_ record: AccountRecord, _ known: KnownAccounts) -> Bool {
        users.contains { known.hasSignedIn(record, for: $0.identity) }
    }
}

extension RefreshPrecondition.Standing {
    /// Nil when the answer may be kept.
    var error: BrokerError? {
        switch self {
        case .valid: nil
        case .signedOut: RefreshPrecondition.signedOut
        case .replaced:
            BrokerError(
                .interactionRequired, "The account was signed in anew meanwhile; ask again.",
                cause: RefreshPrecondition.Replaced())
        }
    }
}
