import BrokerModel
import Synchronization

/// The newest manifest of the vault. While the broker runs, this is the truth that the file is held against.
final class KnownManifest: Sendable {
    private struct State {
        var isStarted = false
        var vault = VaultManifest()
        /// The manifest after the transaction that is about to be committed.
        var pending: VaultManifest?
        /// Counts changes of both.
        var changes: UInt64 = 0
        /// Roots that were opened.
        var roots: [Partition: (box: Fingerprint, root: ManifestRoot)] = [:]
    }

    /// What a reader may find at one moment: a commit that is under way is in the file before or after that is known here.
    struct View {
        fileprivate let roots: [Fingerprint?]
        fileprivate let changes: UInt64
    }

    private let state = Mutex(State())

    /// What the file was found to have, before anything else is asked.
    func start(with vault: VaultManifest) { state.withLock { $0 = State(isStarted: true, vault: vault) } }

    var isStarted: Bool { state.withLock { $0.isStarted } }

    var vault: VaultManifest { state.withLock { $0.vault } }

    func isRolledBack(_ partition: Partition) -> Bool {
        state.withLock { $0.vault.standing(of: partition).isRolledBack }
    }

    var isAnyRolledBack: Bool { state.withLock { $0.vault.partitions.values.contains { $0.isRolledBack } } }

    func view(of partition: Partition) -> View {
        state.withLock { state in
            View(
                roots: [state.vault, state.pending ?? state.vault].map { $0.standing(of: partition).root },
                changes: state.changes)
        }
    }

    enum Judgement { case newest, unclear, rolledBack }

    /// - Parameters:
    ///   - root: which was found.
    ///   - before: what could be found before that.
    /// - Returns: *unclear* when so many commits came in between that it has to be looked at again.
    func judge(_ root: Fingerprint?, of partition: Partition, since before: View) -> Judgement {
        let after = view(of: partition)
        if before.roots.contains(root) || after.roots.contains(root) { return .newest }
        return before.changes == after.changes ? .rolledBack : .unclear
    }

    /// From now on this is the partition's root; what was is lost.
    ///
    /// - Returns: whether that is news.
    func rollBack(_ partition: Partition, to root: Fingerprint?) -> Bool {
        state.withLock { state in
            let now = VaultManifest.Standing(root: root, isRolledBack: true)
            guard state.vault.partitions[partition] != now else { return false }
            state.vault.partitions[partition] = now
            state.changes += 1
            return true
        }
    }

    /// - Parameter open: opens the box; asked once for each.
    func root(
        _ box: Fingerprint?, of partition: Partition, open: () -> ManifestRoot?
    ) -> ManifestRoot {
        guard let box else { return ManifestRoot() }
        if let known = state.withLock({ $0.roots[partition] }), known.box == box { return known.root }
        guard let root = open() else { return ManifestRoot() }
        state.withLock { $0.roots[partition] = (box, root) }
        return root
    }

    func isAboutToBe(_ vault: VaultManifest) {
        state.withLock { state in
            state.pending = vault
            state.changes += 1
        }
    }

    /// - Parameter before: what was known when the commit began.
    func became(_ vault: VaultManifest, from before: VaultManifest) {
        state.withLock { state in
            var vault = vault
            // What was noticed meanwhile is written with the next commit.
            for (partition, standing) in state.vault.partitions
            where standing.isRolledBack && !before.standing(of: partition).isRolledBack {
                vault.partitions[partition, default: standing].isRolledBack = true
            }
            state.vault = vault
            state.pending = nil
            state.changes += 1
        }
    }

    func stayed() {
        state.withLock { state in
            state.pending = nil
            state.changes += 1
        }
    }
}
