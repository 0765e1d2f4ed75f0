import BrokerConfig
import BrokerHost
import BrokerModel
import BrokerSystem
import BrokerValues
import BrokerVault
import BrokerVaultSQLite
import Glibc
import Logging

/// The folders of the vault, of its key, and of its last commit.
struct Storage {
    let configuration: BrokerConfiguration
    let clock: SystemClock
    let logger: Logger

    func openVault() async throws(StartFailure) -> Vault {
        guard let place = configuration.vault.stateDirectory.map(StatePlace.named) ?? configuration.paths.statePlace
        else {
            throw StartFailure(
                exit: .configuration,
                text: "There is no home directory to keep the vault in; name one with --state-dir.")
        }
        do throws(VaultError) {
            let directory = try stateDirectory(at: place)
            let keys = try keyDirectory()
            return try await Vault.open(
                in: directory, rows: SQLiteStore(in: directory), keySources: keySources(directory, keys),
                anchors: [keys, sessionAnchors()].compactMap(\.self), at: clock.now, logger: logger)
        } catch {
            throw StartFailure(exit: .vault, text: "\(error)")
        }
    }

    private func keySources(_ directory: StateDirectory, _ keys: StateDirectory?) -> KeySourceChoice {
        var context = KeySourceContext(
            directory: directory, keyDirectory: keys,
            credentials: ProcessEnvironment.current()["CREDENTIALS_DIRECTORY"])
        if !configuration.vault.passphraseCommand.isEmpty {
            let command = PassphraseCommand(configuration.vault.passphraseCommand, clock: clock)
            context.passphrase = { () throws(VaultError) in try await command.passphrase() }
        }
        return KeySourceChoice(KeySources.all(in: context), order: configuration.vault.keySources)
    }

    private func stateDirectory(at place: StatePlace) throws(VaultError) -> StateDirectory {
        switch place {
        case .named(let path): try .open(creating: path)
        case .own(let path, let earlier):
            try .open(creating: requireHome(path), movingFrom: earlier, logger: logger)
        case .prepared(let path): try .open(creating: path, followingLink: true)
        }
    }

    /// - Throws: `notPrivate` for root with another user's home (`sudo -E`, `su -m`): that user's broker accepts no files owned by
    ///   root.
    private func requireHome(_ path: String) throws(VaultError) -> String {
        guard let owner = otherOwner(of: path) else { return path }
        throw .notPrivate(
            "\(path) would be in the home of \(ownerText(owner)), and you are root. Start brokerd as that user, or with root's own "
                + "home (sudo -H).")
    }

    /// The folder of a key file; `nil` means next to the vault. A broker whose vault is in a folder of its own keeps the key there
    /// as well, independent of any other broker.
    private func keyDirectory() throws(VaultError) -> StateDirectory? {
        if let path = configuration.vault.keyDirectory { return try StateDirectory.open(creating: path) }
        guard configuration.vault.stateDirectory == nil, let path = configuration.paths.keyDirectory else { return nil }
        return try StateDirectory.open(creating: configuration.isSystemMode ? path : requireHome(path))
    }

    /// The folder that records the vault's last commit for the session. `nil` without a session, or if it cannot be opened.
    private func sessionAnchors() -> StateDirectory? {
        let paths = configuration.paths
        guard access(paths.anchorsParent, W_OK) == 0 else { return nil }
        do throws(VaultError) {
            return try StateDirectory.open(creating: paths.anchors)
        } catch {
            logger.warning(
                "the session does not remember the vault's last commit", metadata: ["cause": "\(error)"])
            return nil
        }
    }
}
