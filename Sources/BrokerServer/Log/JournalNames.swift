import BrokerAccess
import BrokerModel
import Synchronization

/// The one place that writes names of people and accounts to the journal (`log.names`, decision 28).
package final class JournalNames: Sendable {
    package enum Style: String, Sendable, CaseIterable {
        case plain
        /// The same name gives the same word, on this machine only.
        case hashed
        case none
    }

    private let vault: any RecordVault
    /// `nil` in user mode.
    private let owners: PartitionOwners?
    private let current: Mutex<Style>

    package init(_ style: Style = .plain, vault: any RecordVault, owners: PartitionOwners? = nil) {
        current = Mutex(style)
        self.vault = vault
        self.owners = owners
    }

    /// Takes effect with the next entry.
    package var style: Style {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    func shown(_ name: String, in partition: Partition) -> String {
        switch style {
        case .plain: name
        case .hashed: hash(of: name, in: partition).map { "person:\($0)" } ?? Self.withheld
        case .none: Self.withheld
        }
    }

    /// The user of a request to a system broker; `nil` in user mode, where all requests are of one user.
    func user(of partition: Partition) -> String? {
        guard let owners else { return nil }
        guard style != .none, let account = owners.account(of: partition) else { return "uid \(partition.uid)" }
        return "\(shown(account, in: partition)) (uid \(partition.uid))"
    }

    static let withheld = "(name withheld)"

    /// Keyed with the vault's key, so that no table of names reverses it. `nil` while the broker is locked.
    private func hash(of name: String, in partition: Partition) -> Substring? {
        let id = HomeAccountID(rawValue: name.lowercased())
        return (try? vault.accountID(of: id, at: "names in the journal", in: partition))?.prefix(12)
    }
}
