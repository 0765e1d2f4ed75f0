import BrokerValues

/// The registered apps, as the engine needs to know them.
package protocol AppRoster: Sendable {
    /// The apps that can be made use of; none when the registrations cannot be read. For lists and for help: where
    /// something would be deleted because nobody needs it, ask ``members(of:in:)``.
    func apps(in partition: Partition) -> [AppRegistration]

    /// Who shares the group's accounts, with those whose registration is of no use at present.
    ///
    /// - Throws: when the registrations cannot be read: nobody knows then that there is no other.
    func members(of group: GroupID, in partition: Partition) throws(BrokerError) -> [GroupMember]

    /// Takes over a registration of a backup.
    ///
    /// - Parameter replacing: whether one of the same name that differs gives way.
    /// - Throws: when it could not be written.
    func restore(
        _ record: AppRecord, clientSecret: Secret?, replacing: Bool, in partition: Partition
    ) async throws(BrokerError) -> RestoredApp

    /// Drops what is in memory, client secrets above all; it is read again when it is needed.
    func forget()
}

/// What became of a registration of a backup.
package enum RestoredApp: Sendable, Equatable {
    case added, replaced, same
    /// It was not taken; the sentence says why, and what to do.
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
