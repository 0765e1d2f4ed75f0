import BrokerModel
import Synchronization

/// The newest manifest of the vault. While the broker runs, the file is checked against this one.
final class KnownManifest: Sendable {
    private struct State {
        var isStarted = false
        var vault = VaultManifest()
        /// The manifest after the transaction that is about to be committed.
        var pending: VaultManifest?
        /// Counts changes of both manifests.
        var changes: UInt64 = 0
        /// Roots that have been opened.
        var roots: [Partition: (box: Fingerprint, root: ManifestRoot)] = [:]
    }

    /// The roots that a reader may find at one moment: a commit that is under way may reach the file before or after this state.
    struct View {
        fileprivate let roots: [Fingerprint?]
        fileprivate let changes: UInt64
    }

    private let state = Mutex(State())

    /// Starts with the content of the file, before anything else is read.
    func start(with vault: VaultManifest) { state.withLock { $0 = State(isStarted: true, vault: vault) } }

    var isStarted: Bool { state.withLock { $0.isStarted } }

    var vault: VaultManifest { state.withLock { $0.vault } }

    func isRolledBack(_ partition: Partition) -> Bool {
        state.withLock { $0.vault.state(of: partition).isRolledBack }
    }

    var isAnyRolledBack: Bool { state.withLock { $0.vault.partitions.values.contains { $0.isRolledBack } } }

    func view(of partition: Partition) -> View {
        state.withLock { state in
            View(
                roots: [state.vault, state.pending ?? state.vault].map { $0.state(of: partition).root },
                changes: state.changes)
        }
    }

    enum Judgement { case newest, unclear, rolledBack }

    /// - Parameters:
    ///   - root: the root in the file.
    ///   - before: the roots that were possible before the read.
    /// - Returns: *unclear* if so many commits happened in between that the file has to be read again.
    func judge(_ root: Fingerprint?, of partition: Partition, since before: View) -> Judgement {
        let after = view(of: partition)
        if before.roots.contains(root) || after.roots.contains(root) { return .newest }
        return before.changes == after.changes ? .rolledBack : .unclear
    }

    /// Makes this the partition's root from now on; the previous one is lost.
    ///
    /// - Returns: whether that is a change.
    func rollBack(_ partition: Partition, to root: Fingerprint?) -> Bool {
        state.withLock { state in
            let now = VaultManifest.PartitionState(root: root, isRolledBack: true)
            guard state.vault.partitions[partition] != now else { return false }
            state.vault.partitions[partition] = now
            state.changes += 1
            return true
        }
    }

    /// - Parameter open: opens the box; called once for each.
    func root(
        _ box: Fingerprint?, of partition: Partition, open: () -> ManifestRoot?
    ) -> ManifestRoot {
        guard let box else { return ManifestRoot() }
        if let known = state.withLock({ $0.roots[partition] }), known.box == box { return known.root }
        guard let root = open() else { return ManifestRoot() }
        state.withLock { $0.roots[partition] = (box, root) }
        return root
    }

    func willCommit(_ vault: VaultManifest) {
        state.withLock { state in
            state.pending = vault
            state.changes += 1
        }
    }

    /// - Parameter before: the manifest when the commit began.
    func didCommit(_ vault: VaultManifest, from before: VaultManifest) {
        state.withLock { state in
            var vault = vault
            // Roll-backs that were detected in the meantime are written with the next commit.
            for (partition, entry) in state.vault.partitions
            where entry.isRolledBack && !before.state(of: partition).isRolledBack {
                vault.partitions[partition, default: entry].isRolledBack = true
            }
            state.vault = vault
            state.pending = nil
            state.changes += 1
        }
    }

    func didAbort() {
        state.withLock { state in
            state.pending = nil
            state.changes += 1
        }
    }
}
