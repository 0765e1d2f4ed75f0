import BrokerModel
import BrokerSystem

/// A random key in the person's keyring: GNOME Keyring, KWallet or KeePassXC by the Secret Service.
///
/// A broker that starts before the desktop starts locked, and so does one whose keyring is locked, slow or away (decision 176): nobody
/// is asked at a moment when nobody expects it. The keyring holds a key that wraps, not the data key: a copy of it alone opens
/// nothing.
package struct SecretServiceSource: KeySource {
    package static let name = "secret-service"
    package var name: String { Self.name }

    package init() {}

    package func isAvailable() async -> Bool {
        do throws(KeyringFailure) {
            return try await Self.run(.atStart) { keyring in keyring.isOffered }
        } catch { return false }
    }

    package func keepsKey(of vaultID: [UInt8]) async -> Bool {
        let id = vaultID.hexadecimal
        do throws(KeyringFailure) {
            return try await Self.run(.atStart) { (keyring) throws(KeyringFailure) in try keyring.hasKey(of: id) }
        } catch { return false }
    }

    package func makeKey(
        for vaultID: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> NewKey {
        let id = vaultID.hexadecimal
        do throws(KeyringFailure) {
            return try await Self.run(attempt) { (keyring) throws(KeyringFailure) in
                if let key = try keyring.key(of: id) { return NewKey(key: key) }
                let key = Secret.random(count: keyByteCount)
                try keyring.store(key, of: id)
                return NewKey(key: key)
            }
        } catch { throw error.unavailable }
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
    ) async throws(VaultError) -> Secret {
        let id = vaultID.hexadecimal
        let found: Secret?
        do throws(KeyringFailure) {
            found = try await Self.run(attempt) { (keyring) throws(KeyringFailure) in try keyring.key(of: id) }
        } catch { throw error.awaitingKey }
        guard let found else {
            throw .awaitingKey(
                "The keyring that is open does not have the vault's key. If another keyring or database has it, open that one, or "
                    + "put a backup of the keyring back: the broker opens the vault by itself then. Keep vault.db until you know "
                    + "that there is none: without the key its sign-ins are lost.")
        }
        return found
    }

    package func discardKey(of vaultID: [UInt8], parameters: [UInt8]) async {
        let id = vaultID.hexadecimal
        do throws(KeyringFailure) {
            try await Self.run(.asked) { (keyring) throws(KeyringFailure) in try keyring.remove(id) }
        } catch {}
    }

    package func changes() -> AsyncStream<Void> { KeyringWatch.changes() }

    /// The bus waits for other programs, and may itself hang: on a thread that is waited for so long only.
    private static func run<Result: Sendable>(
        _ attempt: KeyAttempt, _ body: @escaping @Sendable (Keyring) throws(KeyringFailure) -> Result
    ) async throws(KeyringFailure) -> Result {
        let answer = Promise<Swift.Result<Result, KeyringFailure>>()
        let status = DetachedThread.start {
            do throws(KeyringFailure) {
                answer.fulfil(.success(try body(try Keyring(attempt))))
            } catch {
                answer.fulfil(.failure(error))
            }
        }
        if status != 0 { throw .failed(errnoText(status)) }
        let clock = Task {
            guard (try? await Task.sleep(for: attempt.patience + .seconds(1))) != nil else { return }
            answer.fulfil(.failure(.silent))
        }
        defer { clock.cancel() }
        // A broker that stops waits for no keyring.
        let outcome = await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.fulfil(.failure(.silent))
        }
        return try outcome.get()
    }
}
