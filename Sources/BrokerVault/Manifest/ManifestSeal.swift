import BrokerModel

/// Seals each part of a manifest, bound to its place.
enum ManifestSeal {
    enum Part {
        case page(ManifestPlace)
        case root(Partition)
        case vault
        /// The mark that is kept outside the file.
        case anchor(vaultID: [UInt8])

        fileprivate var isRotated: Bool {
            if case .anchor = self { false } else { true }
        }

        fileprivate func key(of keys: PartitionKeys) -> Secret { isRotated ? keys.manifest : keys.anchor }
    }

    static func seal(_ bytes: [UInt8], as part: Part, keys: PartitionKeys) -> [UInt8] {
        bytes.withUnsafeBytes { AEAD.seal($0, under: part.key(of: keys), binding: context(part)) }
    }

    /// - Returns: nil if the box is not genuine, or was sealed for another place.
    static func open(_ box: [UInt8], as part: Part, keys: PartitionKeys) -> [UInt8]? {
        guard box.count > AEAD.overhead else { return nil }
        var bytes = [UInt8](repeating: 0, count: box.count - AEAD.overhead)
        let isGenuine = bytes.withUnsafeMutableBytes {
            let bytes = $0
            return AEAD.open(box, under: part.key(of: keys), binding: context(part), into: bytes)
                || part.isRotated
                    && keys.formerManifests.contains { AEAD.open(box, under: $0, binding: context(part), into: bytes) }
        }
        return isGenuine ? bytes : nil
    }

    private static func context(_ part: Part) -> [UInt8] {
        var bytes = CanonicalBytes()
        bytes.append("token-broker manifest")
        bytes.append(UInt32(VaultFormat.current))
        switch part {
        case .page(let place):
            bytes.append(UInt8(0))
            bytes.append(place.partition.uid)
            bytes.append(place.page)
        case .root(let partition):
            bytes.append(UInt8(1))
            bytes.append(partition.uid)
        case .vault: bytes.append(UInt8(2))
        case .anchor(let vaultID):
            bytes.append(UInt8(3))
            bytes.append(vaultID)
        }
        return bytes.bytes
    }
}
