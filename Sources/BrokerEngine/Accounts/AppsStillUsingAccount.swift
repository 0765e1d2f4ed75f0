import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Other apps that use an account when one app gives it up. Decided in the write queue: a sign-in may have just come in.
struct AppsStillUsingAccount: Sendable {
    private let members: [GroupMember]

    /// - Parameters:
    ///   - person: the account in each tenant that the group knows.
    ///   - members: the members of the app's group.
    init(
        of person: [KnownAccount], besides app: AppRegistration, among members: [GroupMember],
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

    /// Apps of one group with the same client share one set of tokens (docs/decisions/0016).
    func shareTokens(of app: AppRegistration) -> Bool { members.contains { $0.clientID.isExactly(app.clientID) } }
}
