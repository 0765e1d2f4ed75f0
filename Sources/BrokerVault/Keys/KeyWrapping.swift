import BrokerModel
import CSodium

/// The uses of the key-encryption key: it proves that it is the vault's, and wraps the partitions' data keys.
struct KeyWrapping: Sendable {
    private let wrapping: Secret
    private let checking: Secret
    let vaultID: [UInt8]
    private let source: String
    private var format = VaultFormat.current

    /// - Parameter source: bound into everything, so that a changed name in the header is detected.
    init(key: Secret, vaultID: [UInt8], source: String) {
        wrapping = key.subkey(1, "tb-wraps")
        checking = key.subkey(2, "tb-wraps")
        self.vaultID = vaultID
        self.source = source
    }

    /// - Parameter joined: ``joined`` of the same key.
    init?(joined: Secret, vaultID: [UInt8], source: String) {
        guard joined.count == 2 * keyByteCount else { return nil }
        let parts = joined.parts(of: keyByteCount)
        (wrapping, checking) = (parts[0], parts[1])
        self.vaultID = vaultID
        self.source = source
    }

    /// Both keys as one secret.
    var joined: Secret { .joining([wrapping, checking]) }

    /// The same for a vault of another format.
    func of(_ format: Int) -> KeyWrapping {
        var other = self
        other.format = format
        return other
    }

    /// Distinguishes a wrong key from a damaged vault; reveals nothing about the key.
    var check: [UInt8] { keyedHash(context(of: nil), key: checking) }

    func wrap(_ keys: DataKeys, of partition: Partition) -> [UInt8] {
        keys.joined.withBytes { AEAD.seal($0, under: wrapping, binding: context(of: partition)) }
    }

    /// Whether wrapped keys contain a former one, with which records are sealed still.
    static func hasFormer(_ wrapped: [UInt8]) -> Bool { wrapped.count - AEAD.overhead == DataKeys.sizes.last }

    /// - Returns: nil if it was wrapped under another key, for another partition or vault, or was changed.
    func unwrap(_ wrapped: [UInt8], of partition: Partition) -> DataKeys? {
        let count = wrapped.count - AEAD.overhead
        guard DataKeys.sizes.contains(count) else { return nil }
        var isGenuine = false
        let joined = Secret(count: count) { joined in
            isGenuine = AEAD.open(wrapped, under: wrapping, binding: context(of: partition), into: joined)
        }
        return isGenuine ? DataKeys(joined: joined) : nil
    }

    private func context(of partition: Partition?) -> [UInt8] {
        var bytes = CanonicalBytes()
        bytes.append("token-broker data key")
        bytes.append(UInt32(format))
        bytes.append(vaultID)
        bytes.append(source)
        bytes.append(UInt8(partition == nil ? 0 : 1))
        bytes.append(partition?.uid ?? 0)
        return bytes.bytes
    }
}

extension Secret {
    /// An independent key for one purpose (crypto_kdf: BLAKE2b with number and context).
    /// - Parameter context: eight ASCII characters.
    func subkey(_ number: UInt64, _ context: StaticString) -> Secret {
        Secret(count: keyByteCount, isKept: true) { subkey in
            withBytes { key in
                context.withUTF8Buffer { context in
                    _ = crypto_kdf_derive_from_key(
                        subkey.octets, subkey.count, number, UnsafeRawBufferPointer(context).characters, key.octets)
                }
            }
        }
    }
}
