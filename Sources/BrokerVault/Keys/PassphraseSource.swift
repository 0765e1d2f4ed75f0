import BrokerModel
import BrokerValues
import CSodium
import Dispatch
import Synchronization

/// A key that is derived from a person's passphrase with Argon2id. The vault keeps salt and costs beside it, and starts
/// locked: `broker.unlock` brings the passphrase, unless a program does.
package struct PassphraseSource: KeySource {
    package static let name = "passphrase"
    package var name: String { Self.name }

    package typealias PassphraseProvider = @Sendable () async throws(VaultError) -> Secret

    private let bringer: PassphraseProvider?

    /// - Parameter bringer: asked where no person gave the passphrase.
    package init(from bringer: PassphraseProvider? = nil) { self.bringer = bringer }

    private func passphrase(_ given: Secret?, orElse sentence: String) async throws(VaultError) -> Secret {
        if let given { return given }
        guard let bringer else { throw .awaitingKey(sentence) }
        return try await bringer()
    }

    package func makeKey(for vaultID: [UInt8], passphrase given: Secret?) async throws(VaultError) -> NewKey {
        let passphrase = try await passphrase(
            given,
            orElse: "A new vault cannot ask for a passphrase. Start it with another key source, and then run: "
                + "brokerctl key set-source passphrase")
        guard passphrase.count >= PassphraseRule.shortest else {
            throw .keyUnavailable(
                "A passphrase has at least \(PassphraseRule.shortest) characters. Choose a longer one.")
        }
        let costs = PassphraseCosts.usual
        let salt = Secret.random(count: PassphraseCosts.saltCount).withBytes { [UInt8]($0) }
        let key = try await costs.key(from: passphrase, salt: salt)
        return NewKey(key: key, parameters: costs.parameters(salt: salt))
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase given: Secret?
    ) async throws(VaultError) -> Secret {
        guard let (costs, salt) = PassphraseCosts.read(parameters) else {
            throw .damaged(
                "The vault says of its passphrase what no broker wrote. Restore vault.db from a backup, or move it away."
            )
        }
        let passphrase = try await passphrase(
            given, orElse: "The broker is locked with a passphrase; unlock it with brokerctl unlock.")
        return try await costs.key(from: passphrase, salt: salt)
    }

    package func mismatch(_ vaultPath: String, isTyped: Bool) -> VaultError {
        guard !isTyped else { return .wrongPassphrase }
        return .awaitingKey(
            "What the program of vault.passphrase_command printed is not the vault's passphrase; mend that, or unlock the "
                + "broker with brokerctl unlock.")
    }
}

/// What one derivation costs: passes over so many bytes of memory, in one lane (RFC 9106).
package struct PassphraseCosts: Sendable, Equatable {
    static let saltCount = Int(crypto_pwhash_SALTBYTES)
    /// A tenth of a second on one core of 2024.
    package static let usual = PassphraseCosts(passes: 3, memory: 64 << 20)
    /// What a vault or a backup may ask for. The file may have been edited by anybody: its opening must not take all memory. The
    /// unit gives the broker 512 MiB (`MemoryMax=`), and one derivation runs at a time.
    private static let passBounds: ClosedRange<UInt32> = 2...8
    private static let memoryBounds: ClosedRange<UInt32> = (64 << 20)...(128 << 20)
    private static let version: UInt8 = 1

    var passes: UInt32
    /// Bytes.
    var memory: UInt32

    func parameters(salt: [UInt8]) -> [UInt8] {
        var bytes = CanonicalBytes()
        bytes.append(Self.version)
        bytes.append(passes)
        bytes.append(memory)
        bytes.append(salt)
        return bytes.bytes
    }

    /// - Returns: nil for what ``parameters(salt:)`` never wrote, and for costs out of bounds.
    static func read(_ parameters: [UInt8]) -> (costs: PassphraseCosts, salt: [UInt8])? {
        guard parameters.count == 13 + saltCount else { return nil }
        func number(_ offset: Int) -> UInt32 {
            parameters[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        let costs = PassphraseCosts(passes: number(1), memory: number(5))
        let salt = Array(parameters[13...])
        guard passBounds.contains(costs.passes), memoryBounds.contains(costs.memory),
            costs.parameters(salt: salt) == parameters
        else { return nil }
        return (costs, salt)
    }

    /// One at a time, on a thread that nobody else waits for: neither the event loop nor the threads of tasks.
    private static let queue = DispatchQueue(label: "passphrase")

    func key(from passphrase: Secret, salt: [UInt8]) async throws(VaultError) -> Secret {
        let turn = Turn()
        let key: Secret? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                turn.wait(continuation)
                Self.queue.async { turn.take()?.resume(returning: derive(passphrase, salt)) }
            }
        } onCancel: {
            turn.take()?.resume(returning: nil)
        }
        guard let key else {
            if Task.isCancelled {
                throw .io("The passphrase was not looked at, because nobody waits for that any more.")
            }
            throw .io(
                "No memory to check the passphrase (\(memory >> 20) MiB). Try again when other programs have ended.")
        }
        return key
    }

    /// Of one who waits in the queue, until it comes or they go. Whoever takes it resumes them.
    private final class Turn: Sendable {
        typealias Waiter = CheckedContinuation<Secret?, Never>
        private enum State {
            case coming
            case waiting(Waiter)
            case over
        }

        private let state = Mutex(State.coming)

        func wait(_ waiter: Waiter) {
            let isOver = state.withLock { state in
                if case .over = state { return true }
                state = .waiting(waiter)
                return false
            }
            if isOver { waiter.resume(returning: nil) }
        }

        func take() -> Waiter? {
            state.withLock { state in
                defer { state = .over }
                if case .waiting(let waiter) = state { return waiter }
                return nil
            }
        }
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
