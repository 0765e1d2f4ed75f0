import BrokerModel

/// A further way to the vault's key: a source in addition to the one that opens the vault every day (docs/decisions/0008).
///
/// It seals the same content as the vault's key. Replacing the vault's key invalidates all added sources: nothing that an earlier
/// key or an earlier copy opens leads to the new one.
struct AddedSource: Sendable {
    var source: String
    /// The same as ``NewKey/parameters``.
    var parameters: [UInt8]
    private var box: [UInt8]

    init(_ source: String, _ made: NewKey, of wrapping: KeyWrapping) {
        (self.source, parameters) = (source, made.parameters)
        let binding = Self.binding(wrapping.vaultID, source)
        let key = made.key.subkey(3, "tb-wraps")
        box = wrapping.joined.withBytes { AEAD.seal($0, under: key, binding: binding) }
    }

    /// - Parameter keySource: the source that opens the vault every day.
    /// - Returns: nil if the key is not the source's, or something was changed.
    func wrapping(
        openedWith key: Secret, of vaultID: [UInt8], usuallyFrom keySource: String
    ) -> KeyWrapping? {
        guard box.count > AEAD.overhead else { return nil }
        var isGenuine = false
        let joined = Secret(count: box.count - AEAD.overhead, isKept: true) { joined in
            isGenuine = AEAD.open(
                box, under: key.subkey(3, "tb-wraps"), binding: Self.binding(vaultID, source), into: joined)
        }
        guard isGenuine else { return nil }
        return KeyWrapping(joined: joined, vaultID: vaultID, source: keySource)
    }

    private static func binding(_ vaultID: [UInt8], _ source: String) -> [UInt8] {
        var bytes = CanonicalBytes()
        bytes.append("token-broker added key")
        bytes.append(vaultID)
        bytes.append(source)
        return bytes.bytes
    }

    // MARK: In the header

    var stored: [UInt8] {
        var bytes = CanonicalBytes()
        for part in [parameters, box] { bytes.append(part) }
        return bytes.bytes
    }

    /// - Returns: nil for bytes that no broker wrote.
    init?(_ source: String, stored: [UInt8]) {
        var reader = CanonicalReader(stored)
        guard let parameters = reader.octets(), let box = reader.octets(), reader.isAtEnd else { return nil }
        (self.source, self.parameters, self.box) = (source, parameters, box)
    }
}
