import BrokerValues

/// The registered apps, as the engine sees them.
package protocol AppRoster: Sendable {
    /// The usable apps; none if the registrations cannot be read. For lists and help texts: before deleting what no other app
    /// needs, use ``members(of:in:)``.
    func apps(in partition: Partition) -> [AppRegistration]

    /// The apps that share the group's accounts, including those whose registration is currently unusable.
    ///
    /// - Throws: if the registrations cannot be read: there may be another app then.
    func members(of group: GroupID, in partition: Partition) throws(BrokerError) -> [GroupMember]

    /// Restores a registration from a backup.
    ///
    /// - Parameter replacing: whether to replace a different app of the same name.
    /// - Throws: if it cannot be written.
    func restore(
        _ record: AppRecord, clientSecret: Secret?, replacing: Bool, in partition: Partition
    ) async throws(BrokerError) -> RestoredApp

    /// Drops the registrations from memory, in particular client secrets; they are read again when needed.
    func forget()
}

/// The outcome of restoring a registration.
package enum RestoredApp: Sendable, Equatable {
    case added, replaced, same
    /// It was not restored; the sentence gives the reason and the remedy.
    case kept(String)
}

/// A registered app, as far as it shares accounts and tokens with others.
package struct GroupMember: Sendable, Equatable {
    /// ``AppRegistration/identity``.
    package let identity: String
    package let clientID: String

    package init(_ app: AppRegistration) {
        identity = app.identity
        clientID = app.clientID
    }

    package init(_ record: AppRecord) {
        identity = AppRegistration.identity(registeredAs: record.name)
        clientID = record.clientID
    }
}
