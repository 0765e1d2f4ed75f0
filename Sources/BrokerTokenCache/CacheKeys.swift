import BrokerModel
import BrokerValues

/// A group, whose apps share accounts.
package struct GroupKey: Sendable, Hashable {
    package let partition: Partition
    package let group: GroupID

    package init(partition: Partition, group: GroupID) {
        self.partition = partition
        self.group = group
    }

    package init(of app: AppRegistration, in partition: Partition) {
        self.init(partition: partition, group: app.effectiveGroup)
    }
}

/// The owner of tokens: a client of a group together with one account.
package struct OwnerKey: Sendable, Hashable {
    package let partition: Partition
    package let owner: TokenOwner

    package init(partition: Partition, owner: TokenOwner) {
        self.partition = partition
        self.owner = owner
    }

    package init(of account: AccountRecord, for app: AppRegistration, in partition: Partition) {
        self.init(partition: partition, owner: TokenOwner(of: account, for: app))
    }

    package var group: GroupKey { GroupKey(partition: partition, group: owner.group) }

    package var client: ClientKey {
        ClientKey(
            partition: partition, group: owner.group, clientID: owner.clientID, environment: owner.environment)
    }

    /// The key of the account's family refresh tokens.
    package var ofFamilies: OwnerKey { OwnerKey(partition: partition, owner: owner.ofFamilies) }
}

/// One client of a group at a provider.
package struct ClientKey: Sendable, Hashable {
    package let partition: Partition
    package let group: GroupID
    private let client: ExactText
    package let environment: String
    package var clientID: String { client.text }

    package init(partition: Partition, group: GroupID, clientID: String, environment: String) {
        self.partition = partition
        self.group = group
        client = ExactText(clientID)
        self.environment = environment
    }

    package init(of app: AppRegistration, at authority: Authority, in partition: Partition) {
        self.init(
            partition: partition, group: app.effectiveGroup, clientID: app.clientID, environment: authority.environment)
    }

    package var groupKey: GroupKey { GroupKey(partition: partition, group: group) }

    package init(of record: AppMetadataRecord, in partition: Partition) {
        self.init(
            partition: partition, group: record.group, clientID: record.clientID, environment: record.environment)
    }
}

extension TokenOwner {
    package init(of account: AccountRecord, for app: AppRegistration) {
        self.init(of: account.homeAccountID, at: account.environment, for: app)
    }

    package init(of homeAccountID: HomeAccountID, at environment: String, for app: AppRegistration) {
        self.init(
            group: app.effectiveGroup, clientID: app.description.clientID, homeAccountID: homeAccountID,
            environment: environment)
    }
}
