import BrokerModel
import BrokerValues

/// The data that is needed before the key: stored in the clear, bound into the key check.
struct VaultHeader: Sendable {
    var format = VaultFormat.current
    /// 16 random bytes.
    var vaultID: [UInt8]
    var keySource: String
    var keyParameters: [UInt8]
    var keyCheck: [UInt8]
    /// When the source last got a key; vaults of earlier brokers do not have it. For display only.
    var wrappedOn: NumericDate?
    /// Further sources, any of which opens the vault as well.
    var added: [AddedSource] = []
}

extension VaultHeader {
    /// Makes a header for a vault whose key comes from a new source.
    static func making(
        _ vaultID: [UInt8], from source: any KeySource, passphrase: Secret?, _ attempt: KeyAttempt, at now: NumericDate
    ) async throws(VaultError) -> VaultHeader {
        let made = try await source.makeKey(for: vaultID, passphrase: passphrase, attempt)
        let wrapping = try KeyWrapping(from: source.name, made.key, vaultID)
        return VaultHeader(
            vaultID: vaultID, keySource: source.name, keyParameters: made.parameters, keyCheck: wrapping.check,
            wrappedOn: now)
    }

    /// Fetches the vault's key from the recorded source, and verifies it.
    func wrapping(
        of path: String, from choice: KeySourceChoice, passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> KeyWrapping {
        let source = try choice.recorded(keySource, of: path)
        do throws(VaultError) {
            return try await wrapping(of: path, from: source, passphrase: passphrase, attempt)
        } catch {
            return try await addedWrapping(of: path, from: choice, passphrase: passphrase, attempt, insteadOf: error)
        }
    }

    /// Uses an added source if the usual one does not open the vault, mainly on another machine.
    private func addedWrapping(
        of path: String, from choice: KeySourceChoice, passphrase: Secret?, _ attempt: KeyAttempt,
        insteadOf failure: VaultError
    ) async throws(VaultError) -> KeyWrapping {
        var failure = failure
        for one in added {
            guard let source = try? choice.recorded(one.source, of: path) else { continue }
            do throws(VaultError) {
                let key = try await source.key(
                    for: vaultID, parameters: one.parameters, passphrase: passphrase, attempt)
                if let wrapping = one.wrapping(openedWith: key, of: vaultID, usuallyFrom: keySource)?.of(format),
                    wrapping.check == keyCheck
                {
                    return wrapping
                }
                throw source.mismatch(path, isTyped: passphrase != nil)
            } catch {
                switch (error, failure) {
                case (.wrongPassphrase, _): failure = error
                case (_, .awaitingKey): continue
                case (.awaitingKey, _):
                    failure = .awaitingKey(
                        "The vault does not open with its usual key from \(keySource) here; open it with its recovery passphrase: brokerctl unlock."
                    )
                default: continue
                }
            }
        }
        throw failure
    }

    func wrapping(
        of path: String, from source: any KeySource, passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> KeyWrapping {
        let key = try await source.key(
            for: vaultID, parameters: keyParameters, passphrase: passphrase, attempt)
        let wrapping = try KeyWrapping(from: source.name, key, vaultID).of(format)
        guard wrapping.check == keyCheck else { throw source.mismatch(path, isTyped: passphrase != nil) }
        await source.didUnlock(with: vaultID)
        return wrapping
    }
}

extension KeyWrapping {
    fileprivate init(from source: String, _ key: Secret, _ vaultID: [UInt8]) throws(VaultError) {
        guard key.count == keyByteCount else {
            throw .keyUnavailable("The key from \(source) has \(key.count) bytes instead of \(keyByteCount).")
        }
        self.init(key: key, vaultID: vaultID, source: source)
    }
}
