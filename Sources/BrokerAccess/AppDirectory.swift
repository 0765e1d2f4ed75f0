import BrokerModel
import BrokerValues

/// The registered apps, in the vault and in memory.
package final class AppDirectory: Sendable {
    package func app(named name: String, in partition: Partition) -> AppRegistration? { nil }
    package func apps(in partition: Partition) -> [AppRegistration] { [] }
    /// Replaces an app of the same name.
    package func register(_ app: AppRegistration, in partition: Partition) async throws(BrokerError) {}
    /// - Returns: the app that was removed, nil if there was none.
    package func remove(named name: String, in partition: Partition) async throws(BrokerError) -> AppRegistration? { nil }
    package init() {}
}
