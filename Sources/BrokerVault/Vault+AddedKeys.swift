import BrokerModel
import BrokerValues

/// Sources in addition to the one that opens the vault every day.
extension Vault {
    /// The key is read back from its source before anything depends on it.
    package func addKeySource(_ name: String, passphrase: Secret?) async throws(VaultError) {
        guard !isLocked else { throw .locked }
        let source = try keySources.source(name, for: path)
        guard name != header.keySource || name == PassphraseSource.name else {
            throw .unsuitable("The vault has its key from \(name) already; add another source.")
        }
        let vaultID = header.vaultID
        var made = try await source.makeKey(for: vaultID, passphrase: passphrase, .asked)
        made.key = try await source.key(
            for: vaultID, parameters: made.parameters, passphrase: passphrase, .asked)
        let key = made
        try await changeAdded { wrapping, added in
            added.removeAll { $0.source == name }
            added.append(AddedSource(name, key, of: wrapping))
        }
        logger.notice("a key source was added", metadata: ["source": "\(name)"])
    }

    package func removeKeySource(_ name: String) async throws(VaultError) {
        guard let one = header.added.first(where: { $0.source == name }) else {
            throw .unsuitable("\(name) is not an added source of the vault's key; brokerctl key status shows them.")
        }
        try await changeAdded { _, added in added.removeAll { $0.source == name } }
        if name != header.keySource, let source = try? keySources.source(name, for: path) {
            await source.discardKey(of: header.vaultID, parameters: one.parameters)
        }
        logger.notice("an added key source was removed", metadata: ["source": "\(name)"])
    }

    private func changeAdded(
        _ change: @escaping @Sendable (KeyWrapping, inout [AddedSource]) -> Void
    ) async throws(VaultError) {
        try await onQueue { [self] () throws(VaultError) in
            var new = header
            change(try keys.currentWrapping(), &new.added)
            try vaultWriter.write([:], new)
            header = new
        } afterwards: { [self] in
            vaultWriter.tidy()
        }
    }
}
