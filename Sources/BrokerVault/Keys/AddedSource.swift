import BrokerModel

/// A further way to the vault's key: a source beside the one that opens the vault every day (docs/decisions/0188).
///
/// What the vault's key does is sealed with a middle key, and that with the source's key. The middle key is also sealed with the vault's
/// own, so that a vault whose key changes keeps its further sources, although none of them is at hand then.
struct AddedSource: Sendable {
    var source: String
    /// As ``MadeKey/parameters``.
    var parameters: [UInt8]
    private var bySource: [UInt8]
    private var byVault: [UInt8]
    private var wrapping: [UInt8]

    init(_ source: String, _ made: MadeKey, of wrapping: KeyWrapping) {
        let middle = Secret.random(count: keyByteCount)
        (self.source, parameters) = (source, made.parameters)
        let key = made.key.subkey(3, "tb-wraps")
        bySource = wrapping.seal(middle, under: key, .bySource, of: source)
        byVault = wrapping.seal(middle, under: wrapping.adding, .byVault, of: source)
        self.wrapping = wrapping.seal(wrapping.joined, under: middle, .wrapping, of: source)
    }

    /// - Parameter header: of the vault, with the source that it is opened with every day.
    /// - Returns: nil where the key is not the source's, or something was changed.
    func wrapping(openedWith key: Secret, _ header: VaultHeader) -> KeyWrapping? {
        let context = AddedSourceContext(vaultID: header.vaultID, source: source)
        guard let middle = context.open(bySource, under: key.subkey(3, "tb-wraps"), .bySource),
            let joined = context.open(wrapping, under: middle, .wrapping)
        else { return nil }
        return KeyWrapping(joined: joined, vaultID: header.vaultID, source: header.keySource)
    }

    /// The same for a vault that has another key from now on.
    ///
    /// - Returns: nil where it was changed by somebody else.
    func resealed(from old: KeyWrapping, to new: KeyWrapping, _ vaultID: [UInt8]) -> AddedSource? {
        let context = AddedSourceContext(vaultID: vaultID, source: source)
        guard let middle = context.open(byVault, under: old.adding, .byVault) else { return nil }
        var other = self
        other.byVault = new.seal(middle, under: new.adding, .byVault, of: source)
        other.wrapping = new.seal(new.joined, under: middle, .wrapping, of: source)
        return other
    }

    // MARK: In the header

    static let prefix = "added-key:"

    var stored: [UInt8] {
        var bytes = CanonicalBytes()
        for part in [parameters, bySource, byVault, wrapping] { bytes.append(part) }
        return bytes.bytes
    }

    /// - Returns: nil for what no broker wrote.
    init?(_ source: String, stored: [UInt8]) {
        var (parts, rest) = ([[UInt8]](), stored[...])
        while rest.count >= 4 {
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count else { return nil }
            parts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        guard parts.count == 4, rest.isEmpty else { return nil }
        self.source = source
        (parameters, bySource, byVault, wrapping) = (parts[0], parts[1], parts[2], parts[3])
    }
}

/// What each box of an added source is bound to.
private struct AddedSourceContext {
    let vaultID: [UInt8]
    let source: String

    func bytes(_ part: AddedSourcePart) -> [UInt8] {
        var bytes = CanonicalBytes()
        bytes.append("token-broker added key")
        bytes.append(vaultID)
        bytes.append(source)
        bytes.append(part.rawValue)
        return bytes.bytes
    }

    func open(_ box: [UInt8], under key: Secret, _ part: AddedSourcePart) -> Secret? {
        guard box.count > AEAD.overhead else { return nil }
        var isGenuine = false
        let content = Secret(count: box.count - AEAD.overhead, isKept: true) { content in
            isGenuine = AEAD.open(box, under: key, binding: bytes(part), into: content)
        }
        return isGenuine ? content : nil
    }
}

private enum AddedSourcePart: UInt8 { case bySource, byVault, wrapping }

extension KeyWrapping {
    fileprivate func seal(_ content: Secret, under key: Secret, _ part: AddedSourcePart, of source: String) -> [UInt8] {
        let context = AddedSourceContext(vaultID: vaultID, source: source).bytes(part)
        return content.withBytes { AEAD.seal($0, under: key, binding: context) }
    }
}
