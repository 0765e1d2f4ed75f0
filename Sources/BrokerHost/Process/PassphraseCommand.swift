import BrokerModel
import BrokerSystem
import BrokerValues

/// A program that prints the vault's passphrase (`vault.passphrase_command`). No shell is involved, and it gets no input.
package struct PassphraseCommand: Sendable {
    /// How long the program may take: it may have to ask a person. systemd gives a service half as much again to start.
    private static let patience = Duration.seconds(60)
    private static let longest = 1_024

    private let words: [String]
    private let clock: any BrokerClock

    /// - Parameter words: the program and its arguments.
    package init(_ words: [String], clock: any BrokerClock) { (self.words, self.clock) = (words, clock) }

    /// - Returns: the first line of its output.
    /// - Throws: `awaitingKey`: the vault stays locked, and a person can bring the passphrase.
    package func passphrase() async throws(VaultError) -> Secret {
        let program = ChildProgram(words: words, longestOutput: Self.longest)
        let run = Task { await program.run() }
        let timer = Task {
            try await clock.sleep(for: Self.patience)
            run.cancel()
        }
        defer { timer.cancel() }
        let output: [UInt8]
        switch await run.value {
        case .ended(true, let all): output = all
        case .ended(false, _): throw failure("failed, or printed too much")
        case .notStarted(let code): throw failure("could not be run: \(errnoText(code))")
        case .cancelled: throw failure("did not end within a minute")
        }
        let line = output.prefix { $0 != UInt8(ascii: "\n") }
        guard !line.isEmpty else { throw failure("printed nothing") }
        return line.withUnsafeBytes { Secret(copying: $0) }
    }

    private func failure(_ what: String) -> VaultError {
        .awaitingKey(
            "The program of vault.passphrase_command (\(words[0])) \(what); fix this, or unlock the broker with brokerctl unlock."
        )
    }
}
