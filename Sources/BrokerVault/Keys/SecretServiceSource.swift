import BrokerModel
import CDesktop
import CSodium
import Dispatch

/// A random key in the person's keyring: GNOME Keyring, KWallet or KeePassXC by the Secret Service.
///
/// A broker that starts before the desktop starts locked, and so does one whose keyring is: nobody is asked at a moment when
/// nobody expects it. The keyring holds a key that wraps, not the data key: a copy of it alone opens nothing.
package struct SecretServiceSource: KeySource {
    package static let name = "secret-service"
    package var name: String { Self.name }

    package init() {}

    package func isAvailable() async -> Bool {
        await Self.run { broker_secret_look($0) }.outcome == BROKER_SECRET_DONE
    }

    package func makeKey(for vaultID: [UInt8], passphrase: Secret?) async throws(VaultError) -> MadeKey {
        let id = vaultID.hexadecimal
        if let key = try await read(id) { return MadeKey(key: key) }
        let key = Secret.random(count: keyByteCount)
        let (outcome, text) = await Self.run { error in
            key.withBytes { broker_secret_store(id, "Token broker, key of its vault", $0.baseAddress, $0.count, error) }
        }
        guard outcome == BROKER_SECRET_DONE else { throw Self.failure(outcome, text) }
        return MadeKey(key: key)
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?
    ) async throws(VaultError) -> Secret {
        guard let key = try await read(vaultID.hexadecimal) else {
            throw .keyUnavailable(
                "The vault's key is not in the keyring any more. Put it back from a backup of the keyring; without it the tokens "
                    + "are lost: then move vault.db away and sign in again.")
        }
        return key
    }

    package func discardKey(of vaultID: [UInt8], parameters: [UInt8]) async {
        let id = vaultID.hexadecimal
        _ = await Self.run { broker_secret_remove(id, $0) }
    }

    /// - Returns: nil when the keyring is open and does not have it.
    private func read(_ id: String) async throws(VaultError) -> Secret? {
        let (result, text) = await Self.run { error in
            var outcome = BROKER_SECRET_FAILED
            let key = Secret(count: keyByteCount, isKept: true) {
                outcome = broker_secret_read(id, $0.baseAddress, $0.count, error)
            }
            return (outcome, key)
        }
        switch result.0 {
        case BROKER_SECRET_DONE: return result.1
        case BROKER_SECRET_NOT_FOUND: return nil
        default: throw Self.failure(result.0, text)
        }
    }

    private static func failure(_ outcome: broker_secret_outcome, _ text: String) -> VaultError {
        switch outcome {
        case BROKER_SECRET_NO_SERVICE:
            .awaitingKey(
                "The vault's key is in the keyring, which cannot be reached (\(text)); when it runs, unlock the broker with brokerctl unlock."
            )
        case BROKER_SECRET_LOCKED:
            .awaitingKey("The keyring is locked; unlock it, and then the broker with brokerctl unlock.")
        default: .keyUnavailable("The keyring did not do what it was asked: \(text).")
        }
    }

    /// Calls on the session bus wait for other programs: on a thread that nobody else waits for.
    private static let queue = DispatchQueue(label: "keyring")

    private static func run<Outcome: Sendable>(
        _ body: @escaping @Sendable (UnsafeMutablePointer<broker_secret_error>) -> Outcome
    ) async -> (outcome: Outcome, text: String) {
        await withCheckedContinuation { continuation in
            queue.async {
                var error = broker_secret_error()
                let outcome = body(&error)
                let text = withUnsafeBytes(of: error.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                continuation.resume(returning: (outcome, text))
            }
        }
    }
}
