import BrokerModel
import BrokerValues
import CSodium
import Dispatch

/// A key that is derived from the user's passphrase with Argon2id. The vault stores salt and costs, and starts locked:
/// `broker.unlock` provides the passphrase, unless a program does.
package struct PassphraseSource: KeySource {
    package static let name = "passphrase"
    package var name: String { Self.name }

    package typealias PassphraseProvider = @Sendable () async throws(VaultError) -> Secret

    private let provider: PassphraseProvider?

    /// - Parameter provider: asked if the user did not give the passphrase.
    package init(from provider: PassphraseProvider? = nil) { self.provider = provider }

    private func passphrase(_ given: Secret?, orElse sentence: String) async throws(VaultError) -> Secret {
        if let given { return given }
        guard let provider else { throw .awaitingKey(sentence) }
        return try await provider()
    }

    package func makeKey(
        for vaultID: [UInt8], passphrase given: Secret?, _: KeyAttempt
    ) async throws(VaultError) -> NewKey {
        let passphrase = try await passphrase(
            given,
            orElse: "A new vault cannot ask for a passphrase. Start it with another key source, and then run: "
                + "brokerctl key set-source passphrase")
        guard passphrase.count >= PassphraseRule.shortest else {
            throw .unsuitable(
                "A passphrase has at least \(PassphraseRule.shortest) characters. Choose a longer one.")
        }
        let costs = PassphraseCosts.usual
        let salt = Secret.random(count: PassphraseCosts.saltCount).withBytes { [UInt8]($0) }
        let key = try await costs.key(from: passphrase, salt: salt)
        return NewKey(key: key, parameters: costs.parameters(salt: salt))
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase given: Secret?, _: KeyAttempt
    ) async throws(VaultError) -> Secret {
        guard let (costs, salt) = PassphraseCosts.read(parameters) else {
            throw .damaged(
                "The vault's passphrase parameters are damaged. Restore vault.db from a backup, or move it away."
            )
        }
        let passphrase = try await passphrase(
            given, orElse: "The broker is locked with a passphrase; unlock it with brokerctl unlock.")
        return try await costs.key(from: passphrase, salt: salt)
    }

    package func mismatch(_ vaultPath: String, isTyped: Bool) -> VaultError {
        guard !isTyped else { return .wrongPassphrase }
        return .awaitingKey(
            "The output of vault.passphrase_command is not the vault's passphrase; fix the command, or unlock the "
                + "broker with brokerctl unlock.")
    }
}

/// The costs of one derivation: passes over a number of bytes of memory, in one lane (RFC 9106).
package struct PassphraseCosts: Sendable, Equatable {
    static let saltCount = Int(crypto_pwhash_SALTBYTES)
    /// A tenth of a second on one core of 2024.
    package static let usual = PassphraseCosts(passes: 3, memory: 64 << 20)
    /// The bounds for a vault or a backup. An attacker may have edited the file: opening it must not take all memory. The unit
    /// gives the broker 512 MiB (`MemoryMax=`), and one derivation runs at a time.
    private static let passBounds: ClosedRange<UInt32> = 2...8
    private static let memoryBounds: ClosedRange<UInt32> = (64 << 20)...(128 << 20)
    private static let version: UInt8 = 1

    var passes: UInt32
    /// In bytes.
    var memory: UInt32

    func parameters(salt: [UInt8]) -> [UInt8] {
        var bytes = CanonicalBytes()
        bytes.append(Self.version)
        bytes.append(passes)
        bytes.append(memory)
        bytes.append(salt)
        return bytes.bytes
    }

    /// - Returns: nil for data that ``parameters(salt:)`` never wrote, and for costs out of bounds.
    static func read(_ parameters: [UInt8]) -> (costs: PassphraseCosts, salt: [UInt8])? {
        var reader = CanonicalReader(parameters)
        guard reader.byte() == version, let passes = reader.number32(), passBounds.contains(passes),
            let memory = reader.number32(), memoryBounds.contains(memory),
            let salt = reader.octets(), salt.count == saltCount, reader.isAtEnd
        else { return nil }
        return (PassphraseCosts(passes: passes, memory: memory), salt)
    }

    /// One at a time, on a thread of its own: neither the event loop nor the threads of tasks are blocked.
    private static let queue = DispatchQueue(label: "passphrase")

    func key(from passphrase: Secret, salt: [UInt8]) async throws(VaultError) -> Secret {
        // The queue, unless the request is cancelled before its turn.
        let (turn, answer) = (Promise<Void>(), Promise<Secret?>())
        let key: Secret? = await withTaskCancellationHandler {
            Self.queue.async { if turn.fulfil(()) { answer.fulfil(derive(passphrase, salt)) } }
            return await answer.value
        } onCancel: {
            if turn.fulfil(()) { answer.fulfil(nil) }
        }
        guard let key else {
            if Task.isCancelled {
                throw .io("The request was cancelled before the passphrase was checked.")
            }
            throw .io(
                "No memory to check the passphrase (\(memory >> 20) MiB). Try again when other programs have ended.")
        }
        return key
    }

    private func derive(_ passphrase: Secret, _ salt: [UInt8]) -> Secret? {
        var isDone = false
        let key = Secret(count: keyByteCount, isKept: true) { key in
            passphrase.withBytes { passphrase in
                isDone =
                    crypto_pwhash(
                        key.octets, UInt64(key.count), passphrase.characters, UInt64(passphrase.count), salt,
                        UInt64(passes), Int(memory), crypto_pwhash_ALG_ARGON2ID13) == 0
            }
        }
        return isDone ? key : nil
    }
}
