import BrokerModel
import BrokerSystem
import Glibc

/// Records the vault's last commit outside its file: in a folder with keys, apart from the vault, and in the session's runtime
/// directory.
///
/// It is written after each commit and not synced, so it is never ahead of the file, unless an earlier file has replaced the last
/// one. It is a tripwire and no proof: an attacker who can write the file may be able to put both back.
///
/// The sealed mark is followed by the path of the vault in the clear: the broker knows where a vault was even after its file is
/// gone.
final class RollbackAnchor: Sendable {
    struct Mark: Sendable, Equatable {
        let commit: UInt64
        /// Distinguishes two files with the same commit count.
        let manifest: Fingerprint
    }

    enum Found: Sendable, Equatable {
        /// No commit is recorded here.
        case nothing
        /// Not sealed with this vault's key: one of the two was replaced.
        case foreign
        case mark(Mark)
    }

    private static let prefix = "anchor-"
    private static let byteCount = 8 + Fingerprint.count + AEAD.overhead
    private let descriptor: Int32
    private let vaultID: [UInt8]

    /// - Parameters:
    ///   - directory: ours, and closed to everyone else.
    ///   - vaultPath: the path of the vault's file.
    init(in directory: StateDirectory, vaultID: [UInt8], of vaultPath: String) throws(VaultError) {
        let name = Self.prefix + vaultID.hexadecimal
        descriptor = openat(directory.descriptor, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw directory.failure(errno, "open", name) }
        self.vaultID = vaultID
        write(path: vaultPath)
    }

    deinit { close(descriptor) }

    /// Without the path the broker only fails to recognise a lost vault.
    private func write(path vaultPath: String) {
        let path = Array(vaultPath.utf8)
        guard Self.path(in: descriptor) != path else { return }
        _ = pwrite(descriptor, path, path.count, off_t(Self.byteCount))
        _ = ftruncate(descriptor, off_t(Self.byteCount + path.count))
    }

    private static func path(in descriptor: Int32) -> [UInt8] {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = pread(descriptor, &path, path.count, off_t(byteCount))
        return Array(path.prefix(max(0, count)))
    }

    /// The anchors of the vaults whose file was at a path: of the last one, and of earlier ones that were moved away.
    static func vaults(
        at vaultPath: String, in directory: StateDirectory
    ) -> [(vaultID: [UInt8], anchorPath: String)] {
        let names = (try? FolderNames(of: directory.path))?.names ?? []
        return names.filter { $0.hasPrefix(prefix) }.compactMap { name in
            guard let vaultID = [UInt8](hexadecimal: name.dropFirst(prefix.count)) else { return nil }
            let descriptor = openat(directory.descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            return path(in: descriptor) == Array(vaultPath.utf8) ? (vaultID, "\(directory.path)/\(name)") : nil
        }
    }

    /// - Parameter keys: of the vault as a whole; nil if it has none.
    func read(_ keys: PartitionKeys?) -> Found {
        var box = [UInt8](repeating: 0, count: Self.byteCount)
        let count = pread(descriptor, &box, box.count, 0)
        // A file whose bytes were lost in a power cut contains zeros.
        guard count != 0, !box.allSatisfy({ $0 == 0 }) else { return .nothing }
        guard count == box.count, let keys,
            let bytes = ManifestSeal.open(box, as: .anchor(vaultID: vaultID), keys: keys)
        else { return .foreign }
        var reader = CanonicalReader(bytes)
        guard let commit = reader.number64(), let manifest = reader.fingerprint() else { return .foreign }
        return .mark(Mark(commit: commit, manifest: manifest))
    }

    /// - Returns: whether it was written.
    func write(_ mark: Mark, keys: PartitionKeys) -> Bool {
        var bytes = CanonicalBytes()
        bytes.append(mark.commit)
        mark.manifest.append(to: &bytes)
        let box = ManifestSeal.seal(bytes.bytes, as: .anchor(vaultID: vaultID), keys: keys)
        return pwrite(descriptor, box, box.count, 0) == box.count
    }
}
