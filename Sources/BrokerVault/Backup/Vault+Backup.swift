import BrokerModel
import BrokerValues

extension Vault: BackupStore {
    package func beginBackup(
        with passphrase: Secret, at now: NumericDate
    ) async throws(BackupError) -> any BackupSealing {
        try await BackupSealer.begin(with: passphrase, at: now)
    }

    package func gatherBackup() throws(BackupError) -> any GatheredBackup { try BackupFile(in: directory) }
}

extension BackupSealer {
    /// - Parameter costs: of deriving the key from the passphrase.
    package static func begin(
        with passphrase: Secret, costs: PassphraseCosts = BackupHeader.usualCosts, at now: NumericDate
    ) async throws(BackupError) -> BackupSealer {
        guard passphrase.count >= PassphraseRule.shortest else {
            throw .shortPassphrase(atLeast: PassphraseRule.shortest)
        }
        let (key, prefix): (Secret, [UInt8])
        do throws(VaultError) {
            (key, prefix) = try await BackupHeader.begin(with: passphrase, costs: costs)
        } catch {
            throw .io(error.description)
        }
        return try BackupSealer(key: key, prefix: prefix, at: now)
    }
}
