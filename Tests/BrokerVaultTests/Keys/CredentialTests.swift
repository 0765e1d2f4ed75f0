import BrokerModel
import BrokerTestSupport
import BrokerVault
import BrokerVaultSQLite
import Foundation
import Testing

/// The folder that systemd would fill, with a credential of the test.
private struct Credentials {
    let path: String
    var source: CredentialSource { CredentialSource(in: path) }

    init(_ bed: VaultBed, _ content: Data?) throws {
        path = try bed.bed.makeDirectory("credentials")
        try content?.write(to: URL(filePath: "\(path)/vault-key"))
    }
}

@Suite("A vault whose key is a systemd credential")
struct CredentialTests {
    private static func bytes(_ byte: UInt8, _ count: Int = 32) -> Data { Data(repeating: byte, count: count) }

    private func text(of error: VaultError?) -> String {
        guard case .keyUnavailable(let text) = error else {
            Issue.record("\(String(describing: error))")
            return ""
        }
        return text
    }

    @Test("a vault is made and opened with a credential")
    func opens() async throws {
        try await withVaultBed { bed in
            let source = try Credentials(bed, Self.bytes(1)).source
            for _ in 0..<2 {
                let vault = try await bed.open(keySource: source)
                #expect(!vault.isLocked)
                try await vault.store(Sample.refreshToken(), secret: "r")
                await vault.close()
            }
            #expect(try !bed.contents().keys.contains("vault.key"))
        }
    }

    @Test("a missing credential is reported with its consequences and how to start over")
    func lost() async throws {
        try await withVaultBed { bed in
            await (try await bed.open(keySource: Credentials(bed, Self.bytes(1)).source)).close()
            let before = try bed.bytes("vault.db")
            for source in [try Credentials(bed, nil).source, CredentialSource(in: nil)] {
                let text = text(of: try await vaultError { _ = try await bed.open(keySource: source) })
                for part in ["LoadCredentialEncrypted=vault-key", "the tokens are lost", "move vault.db away"] {
                    #expect(text.contains(part), "\(text)")
                }
            }
            #expect(try bed.bytes("vault.db") == before)
        }
    }

    @Test("another, a truncated or a longer credential does not open the vault", arguments: [0, 1, 2])
    func foreign(which: Int) async throws {
        try await withVaultBed { bed in
            await (try await bed.open(keySource: Credentials(bed, Self.bytes(1, 40)).source)).close()
            let before = try bed.bytes("vault.db")
            let content = [Self.bytes(2, 40), Self.bytes(1, 39), Self.bytes(1, 41)][which]
            let error = try await vaultError { _ = try await bed.open(keySource: Credentials(bed, content).source) }
            #expect(error?.text(of: VaultError.wrongKey) != nil)
            #expect(try bed.bytes("vault.db") == before)
        }
    }

    @Test("a credential of an impossible size is refused", arguments: [0, 31, 70_000])
    func size(count: Int) async throws {
        try await withVaultBed { bed in
            let source = try Credentials(bed, Self.bytes(1, count)).source
            #expect(
                text(of: try await vaultError { _ = try await bed.open(keySource: source) }).contains("is not a key"))
        }
    }

    @Test("two vaults derive different keys from one credential")
    func keyOfEachVault() async throws {
        try await withVaultBed { bed in
            let source = try Credentials(bed, Self.bytes(1)).source
            let first = try await source.key(
                for: [UInt8](repeating: 1, count: 16), parameters: [], passphrase: nil, .atStart)
            let second = try await source.key(
                for: [UInt8](repeating: 2, count: 16), parameters: [], passphrase: nil, .atStart)
            #expect(first != second)
        }
    }
}

@Suite("The order of key sources")
struct KeyOrderTests {
    private func open(_ bed: VaultBed, order: [String], credentials: String?) async throws -> Vault {
        let directory = try StateDirectory.open(creating: bed.path)
        var context = KeySourceContext(directory: directory, credentials: credentials)
        context.credentialService = CredentialService(at: bed.bed.path("nobody"))
        let sources = KeySources.all(in: context)
        return try await Vault.open(
            in: directory, rows: SQLiteStore(in: directory), keySources: KeySourceChoice(sources, order: order), at: 7,
            logger: bed.log.logger)
    }

    @Test("a new vault uses the first available source, and the log names the unavailable ones")
    func newVault() async throws {
        try await withVaultBed { bed in
            let vault = try await open(bed, order: ["credential", "key-file"], credentials: nil)
            #expect(try vault.statistics().keySource == "key-file")
            #expect(bed.log.text.contains("cannot make the key"))
            let status = await vault.keyStatus()
            #expect(status.wrappedOn == 7 && status.available == ["key-file"])
            await vault.close()
        }
    }

    @Test("a stronger source that appears later changes nothing, and a missing source is not skipped")
    func existing() async throws {
        try await withVaultBed { bed in
            let credentials = try Credentials(bed, Data(repeating: 1, count: 32)).path
            await (try await open(bed, order: ["key-file"], credentials: nil)).close()
            let vault = try await open(bed, order: ["credential", "key-file"], credentials: credentials)
            #expect(try vault.statistics().keySource == "key-file")
            try await vault.setKeySource("credential", passphrase: nil, at: 8)
            await vault.close()
            let error = try await vaultError {
                _ = try await open(bed, order: ["credential", "key-file"], credentials: nil)
            }
            #expect(error?.text(of: VaultError.keyUnavailable) != nil)
        }
    }

    @Test("a source that the configuration does not name cannot be set")
    func notAllowed() async throws {
        try await withVaultBed { bed in
            let vault = try await open(bed, order: ["key-file"], credentials: nil)
            let error = try await vaultError {
                try await vault.setKeySource("passphrase", passphrase: Secret("long enough"), at: 8)
            }
            let text = try #require(error?.text(of: VaultError.unsuitable))
            #expect(text.contains("vault.key_source"))
            await vault.close()
        }
    }
}
