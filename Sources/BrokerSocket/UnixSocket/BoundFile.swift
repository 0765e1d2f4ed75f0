import Glibc
import Synchronization

/// The file of a bound socket, identified well enough to remove it and nothing else.
final class BoundFile: Sendable {
    private let folder: Folder
    private let isAlone: Bool
    private let name: String
    private let device: dev_t
    private let inode: ino_t
    private let isRemoved = Atomic(false)

    init(folder: Folder, isAlone: Bool, name: String, facts: stat) {
        self.folder = folder
        self.isAlone = isAlone
        self.name = name
        device = facts.st_dev
        inode = facts.st_ino
    }

    /// A file that cannot be removed is left: the next start recognises it as stale.
    func remove() {
        guard !isRemoved.exchange(true, ordering: .relaxed) else { return }
        try? folder.locked(unless: isAlone) { () throws(SocketError) in
            guard let facts = try folder.entry(name), facts.st_dev == device, facts.st_ino == inode else { return }
            try folder.unlink(name)
        }
    }
}
