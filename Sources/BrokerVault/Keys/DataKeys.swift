import BrokerModel

/// The data keys of one partition, which are wrapped together.
///
/// A partition begins with one key, from which everything is derived. When that key is replaced, the rows keep their names
/// (``naming``), and the previous key (``former``) is kept until all rows are resealed.
struct DataKeys: Sendable {
    private static let purpose: StaticString = "tb-vault"

    let current: Secret
    let naming: Secret
    private(set) var former: Secret?
    /// A partition whose key was never replaced stores one key only, as in earlier versions.
    private var isFirst = false

    /// The key of a new partition.
    init() { self.init(first: .random(count: keyByteCount)) }

    private init(first: Secret) {
        current = first
        naming = first.subkey(2, Self.purpose)
        isFirst = true
    }

    private init(current: Secret, naming: Secret, former: Secret?) {
        self.current = current
        self.naming = naming
        self.former = former
    }

    /// Adds a new key to seal with, and keeps the one that rows are sealed with now.
    var replaced: DataKeys { DataKeys(current: .random(count: keyByteCount), naming: naming, former: current) }

    /// For use when no row is sealed with the former key any more.
    var settled: DataKeys { DataKeys(current: current, naming: naming, former: nil) }

    var keys: PartitionKeys {
        PartitionKeys(
            sealing: current.subkey(1, Self.purpose), naming: naming,
            former: former.map { [$0.subkey(1, Self.purpose)] } ?? [])
    }

    // MARK: As one secret

    /// One, two or three keys long.
    static let sizes = [1, 2, 3].map { $0 * keyByteCount }

    var joined: Secret {
        .joining(isFirst ? [current] : [naming, current] + (former.map { [$0] } ?? []))
    }

    init?(joined: Secret) {
        guard Self.sizes.contains(joined.count) else { return nil }
        let parts = joined.parts(of: keyByteCount)
        if parts.count == 1 {
            self.init(first: parts[0])
        } else {
            self.init(current: parts[1], naming: parts[0], former: parts.count == 3 ? parts[2] : nil)
        }
    }
}

extension Secret {
    /// - Parameter parts: keys, all of one length.
    static func joining(_ parts: [Secret]) -> Secret {
        Secret(count: parts.reduce(0) { $0 + $1.count }) { buffer in
            for (place, part) in parts.enumerated() {
                part.withBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[(place * bytes.count)...]).copyMemory(from: bytes)
                }
            }
        }
    }

    func parts(of count: Int) -> [Secret] {
        stride(from: 0, to: self.count, by: count).map { start in
            withBytes { bytes in
                Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]), isKept: true)
            }
        }
    }
}

/// The keys that seal and name a partition's rows.
final class PartitionKeys: Sendable {
    let sealing: Secret
    let naming: Secret
    /// Seals the lists of records.
    let manifest: Secret
    /// Seals the state that is kept outside the vault. It stays when the data key is replaced: that state may be out of reach
    /// just then, and must not look like another vault's afterwards.
    let anchor: Secret
    /// Rows, and copies in memory, may still be sealed with these.
    let former: [Secret]

    init(sealing: Secret, naming: Secret, former: [Secret] = []) {
        self.sealing = sealing
        self.naming = naming
        self.former = former
        manifest = Self.manifest(for: sealing)
        anchor = naming.subkey(2, "tb-lists")
    }

    /// The same keys, with further keys that rows may be sealed with.
    func adding(_ former: [Secret]) -> PartitionKeys { PartitionKeys(sealing: sealing, naming: naming, former: former) }

    /// For lists that have not been rewritten yet.
    var formerManifests: [Secret] { former.map(Self.manifest(for:)) }

    private static func manifest(for sealing: Secret) -> Secret { sealing.subkey(1, "tb-lists") }
}
