import BrokerModel
import BrokerValues

extension Vault: VaultKeys {
    package var isLocked: Bool { keys.isLocked }

    package func lock() {
        keys.lock()
        opened.forget()
    }

    package func unlock(passphrase: Secret?) async throws(VaultError) {
        try await unlock(passphrase: passphrase, .asked)
    }

    package func unlockUnasked() async throws(VaultError) { try await unlock(passphrase: nil, .unasked) }

    private func unlock(passphrase: Secret?, _ attempt: KeyAttempt) async throws(VaultError) {
        guard isLocked else { return }
        try await begin(with: try await header.wrapping(of: path, from: keySources, passphrase: passphrase, attempt))
    }

    package func keyChanges() -> AsyncStream<Void> {
        (try? keySources.recorded(header.keySource, of: path))?.changes() ?? AsyncStream { $0.finish() }
    }

    /// Called with the first key: nothing was read before.
    func begin(with wrapping: KeyWrapping) async throws(VaultError) {
        try await onQueue { [self] () throws(VaultError) in
            // If two callers unlock at once, the second finds it done.
            guard isLocked else { return }
            guard wrapping.check == header.keyCheck else {
                throw VaultError.io("The vault's key was changed concurrently. Try again.")
            }
            var wrapping = wrapping
            if header.format < VaultFormat.current { wrapping = try migrate(wrapping) }
            let isNews = try readManifest(wrapping)
            keys.unlock(with: wrapping)
            if isNews { noteRollback() }
        }
        resumeResealing()
    }

    private func migrate(_ wrapping: KeyWrapping) throws(VaultError) -> KeyWrapping {
        let newer = wrapping.of(VaultFormat.current)
        logger.notice(
            "releases that read this vault until now cannot open it any more after this start",
            metadata: ["from": "\(header.format)", "to": "\(VaultFormat.current)"])
        let damaged = try vaultWriter.migrate(VaultMigration(from: wrapping, to: newer))
        logger.notice(
            "brought the vault to a newer format",
            metadata: ["from": "\(header.format)", "to": "\(VaultFormat.current)", "damaged": "\(damaged)"])
        damage.settled(QuarantineQueue.Found(), moved: damaged, missing: 0)
        header.format = VaultFormat.current
        header.keyCheck = newer.check
        return newer
    }

    package func keyStatus() async -> KeyStatus {
        var available: [String] = []
        for source in keySources.allowed where await source.isAvailable() { available.append(source.name) }
        let header = header
        return KeyStatus(
            source: header.keySource, added: header.added.map(\.source), wrappedOn: header.wrappedOn,
            available: available,
            isResealing: ((try? reader.wrappedKeys()) ?? [:]).values.contains(where: KeyWrapping.hasFormer))
    }

    /// The new key is read back from its source before anything depends on it. Then one transaction replaces all wrapped keys and
    /// the recorded source: at every moment the file has one key that opens it, whole. Added sources no longer open it.
    package func setKeySource(_ name: String, passphrase: Secret?, at now: NumericDate) async throws(VaultError) {
        guard !isLocked else { throw .locked }
        let old = header
        let source = try keySources.source(name, for: path)
        let new = try await VaultHeader.making(old.vaultID, from: source, passphrase: passphrase, .asked, at: now)
        let wrapping = try await new.wrapping(of: path, from: source, passphrase: passphrase, .asked)
        try await onQueue { [self] () throws(VaultError) in
            guard header.keyCheck == old.keyCheck, header.keySource == old.keySource else {
                throw VaultError.io("The source of the vault's key was changed concurrently. Try again.")
            }
            var dataKeys: [Partition: [UInt8]] = [:]
            for (partition, keys) in try storedKeys() {
                dataKeys[partition] = wrapping.wrap(keys, of: partition)
            }
            keys.expect(wrapping)
            defer { keys.expect(nil) }
            try vaultWriter.write(dataKeys, new)
            keys.adopt(wrapping, saved: Set(dataKeys.keys))
            header = new
        } afterwards: { [self] in
            // The log contains keys that the former key wrapped until then.
            vaultWriter.tidy()
        }
        let ended = [(old.keySource, old.keyParameters)] + old.added.map { ($0.source, $0.parameters) }
        for (former, parameters) in ended where former != name {
            guard let source = try? keySources.source(former, for: path) else { continue }
            await source.discardKey(of: old.vaultID, parameters: parameters)
        }
        logger.notice(
            "the vault's key has another source", metadata: ["from": "\(old.keySource)", "to": "\(new.keySource)"])
    }

    /// Every partition's keys on disk, and those that are not on disk yet.
    func storedKeys() throws(VaultError) -> [Partition: DataKeys] {
        let wrapping = try keys.currentWrapping()
        // The next commit writes it at the latest, and that may be the one that the keys are for.
        _ = try keys.keysMakingNew(for: .wholeVault, stored: reader.wrappedKey(of:))
        let wrapped = try reader.wrappedKeys().merging(keys.unsaved) { stored, _ in stored }
        var found: [Partition: DataKeys] = [:]
        for (partition, box) in wrapped {
            guard let dataKeys = wrapping.unwrap(box, of: partition) else {
                throw .damaged(
                    "The data key of uid \(partition.uid) in the vault is damaged. Restore vault.db from a backup.")
            }
            found[partition] = dataKeys
        }
        return found
    }
}
