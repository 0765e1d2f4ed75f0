import BrokerModel
import BrokerValues

/// Apps that use an account besides the one that gives it up. Decided in the write queue: a sign-in may have just come in.
struct AppsStillUsingAccount: Sendable {
    private let members: [GroupMember]

    /// - Parameters:
    ///   - person: the account in each tenant that the group knows.
    ///   - members: of the app's group.
    init(
        of person: [KnownAccounts.Entry], besides app: AppRegistration, among members: [GroupMember],
        in index: CacheIndex, _ partition: Partition
    ) throws(VaultError) {
        let known = try index.loadAccounts(of: .init(of: app, in: partition))
        var users: [GroupMember] = []
        for member in members where member.identity != app.identity {
            guard let entry = person.first(where: { known.isSignedIn($0, for: member.identity) }) else { continue }
            var owner = TokenOwner(of: entry.stored.record, for: app)
            owner.clientID = member.clientID
            let tokens = try index.loadTokens(of: .init(partition: partition, owner: owner))
            if tokens.count > 0 { users.append(member) }
        }
        self.members = users
    }

    var isEmpty: Bool { members.isEmpty }

    /// Apps of one group that have one client have one set of tokens (docs/decisions/0004).
    func shareTokens(of app: AppRegistration) -> Bool { members.contains { $0.clientID.isExactly(app.clientID) } }
}
