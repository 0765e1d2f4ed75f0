/// The registered apps, as the engine needs to know them: who else shares a client and a group.
package protocol AppRoster: Sendable {
    func apps(in partition: Partition) -> [AppRegistration]
}
