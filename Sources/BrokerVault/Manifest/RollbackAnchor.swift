import BrokerModel
import Glibc

/// Remembers the vault's last commit outside of its file: in the session's runtime directory, which is gone after a log-out
/// or a restart of the machine.
///
/// It is written after each commit and not synced, so it is never ahead of the file, unless an earlier file was put in
/// place of the last one. It is a tripwire and no proof: whoever may write the file may put both back.
final class RollbackAnchor: Sendable {
    struct Mark: Sendable, Equatable {
        let commit: UInt64
        /// Tells two files of the same count apart.
        let manifest: Fingerprint
    }

    enum Found: Sendable, Equatable {
        /// A first start, or the first since the log-in.
        case nothing
        /// Not of this vault's key: one of the two is not what it was.
        case foreign
        case mark(Mark)
    }

    private static let byteCount = 8 + Fingerprint.count + AEAD.overhead
    private let descriptor: Int32
    private let vaultID: [UInt8]

    /// - Parameter directory: ours, and closed to everybody else.
    init(in directory: StateDirectory, vaultID: [UInt8]) throws(VaultError) {
        let digits = Array("0123456789abcdef")
        let name = "anchor-" + vaultID.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        descriptor = openat(directory.descriptor, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw directory.failure(errno, "open", name) }
        self.vaultID = vaultID
    }

    deinit { close(descriptor) }

    /// - Parameter keys: of the vault as a whole; nil when it has none.
    func read(_ keys: PartitionKeys?) -> Found {
        var box = [UInt8](repeating: 0, count: Self.byteCount)
        let count = pread(descriptor, &box, box.count, 0)
        guard count != 0 else { return .nothing }
        guard count == box.count, let keys,
            let bytes = ManifestSeal.open(box, as: .anchor(vaultID: vaultID), keys: keys)
        else { return .foreign }
        var reader = CanonicalReader(bytes)
        guard let commit = reader.number64(), let manifest = reader.fingerprint() else { return .foreign }
        return .mark(Mark(commit: commit, manifest: manifest))
    }

    /// - Returns: whether it could be written.
    func write(_ mark: Mark, keys: PartitionKeys) -> Bool {
        var bytes = CanonicalBytes()
        bytes.append(mark.commit)
        mark.manifest.append(to: &bytes)
        let box = ManifestSeal.seal(bytes.bytes, as: .anchor(vaultID: vaultID), keys: keys)
        return pwrite(descriptor, box, box.count, 0) == box.count
    }
}
