import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Changes of the vault's keys.
extension BrokerLock {
    package func keyStatus() async -> KeyStatus { await keys.keyStatus() }

    package func setKeySource(
        _ name: String, _ place: KeySourcePlace, passphrase: Secret?
    ) async throws(BrokerError) {
        try await changing { (keys, now) throws(VaultError) in
            switch place {
            case .instead: try await keys.setKeySource(name, passphrase: passphrase, at: now)
            case .beside: try await keys.addKeySource(name, passphrase: passphrase)
            case .removed: try await keys.removeKeySource(name)
            }
        }
    }

    package func replaceDataKeys() async throws(BrokerError) {
        try await changing { (keys, now) throws(VaultError) in try await keys.replaceDataKeys(at: now) }
    }

    private func changing(
        _ change: @escaping @Sendable (any VaultKeys, NumericDate) async throws(VaultError) -> Void
    ) async throws(BrokerError) {
        // One after the other, to the end: the key that the former source must discard could be the next one's.
        do throws(VaultError) {
            try await changes.run { [keys, clock] () async throws(VaultError) in try await change(keys, clock.now) }
        } catch {
            log.error("the vault's keys were not changed", metadata: ["cause": "\(error)"])
            throw BrokerError(ofKeys: error)
        }
    }
}
