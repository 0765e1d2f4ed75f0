import BrokerModel
import BrokerTestSupport
import BrokerVault
import Synchronization
import Testing

/// A source whose key depends on parameters that the vault stores.
private final class RememberedKeys: KeySource {
    let name: String
    private let keys = Mutex<[[UInt8]: Secret]>([:])
    private let keyCount: Int

    init(name: String = "remembered", keyCount: Int = keyByteCount) {
        self.name = name
        self.keyCount = keyCount
    }

    func makeKey(for vaultID: [UInt8], passphrase: Secret?, _: KeyAttempt) throws(VaultError) -> NewKey {
        let made = NewKey(key: .random(count: keyCount), parameters: [1, 2, 3] + vaultID)
        keys.withLock { $0[made.parameters] = made.key }
        return made
    }

    func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _: KeyAttempt
    ) throws(VaultError) -> Secret {
        guard parameters == [1, 2, 3] + vaultID, let key = keys.withLock({ $0[parameters] }) else {
            throw .keyUnavailable("forgotten")
        }
        return key
    }
}

@Suite("The source of the key")
struct KeySourceTests {
    @Test("a source gets its stored parameters back, and is named in the statistics")
    func parameters() async throws {
        try await withVaultBed { bed in
            let source = RememberedKeys()
            var vault = try await bed.open(keySource: source)
            try await vault.store(Sample.refreshToken(), secret: "r")
            await vault.close()
            vault = try await bed.open(keySource: source)
            #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            #expect(try vault.statistics().keySource == "remembered")
            await vault.close()
        }
    }

    @Test("every configurable source has its configured name, which the vault records")
    func names() async throws {
        #expect(KeySources.names == ["key-file", "credential", "secret-service", "passphrase"])
        try await withVaultBed { bed in
            let directory = try StateDirectory.open(creating: bed.path)
            let sources = KeySources.all(in: KeySourceContext(directory: directory))
            #expect(sources.map(\.name) == KeySources.names)
        }
    }

    @Test("a vault opens only with the source that it was made with, even if another has the key")
    func noDowngrade() async throws {
        try await withVaultBed { bed in
            await (try await bed.open(keySource: RememberedKeys())).close()
            let before = try bed.bytes("vault.db")
            let file = KeyFileSource(in: try StateDirectory.open(creating: bed.path))
            let error = try await vaultError { _ = try await bed.open(keySource: file) }
            let text = try #require(error?.text(of: VaultError.keyUnavailable))
            #expect(text.contains("remembered"))
            #expect(try bed.contents().keys.contains("vault.key") == false, "no key file is made for it")
            #expect(try bed.bytes("vault.db") == before)
        }
    }

    @Test("a vault whose recorded source name was changed does not open")
    func renamedSource() async throws {
        try await withVaultBed { bed in
            await (try await bed.open()).close()
            try edit(
                bed.file("vault.db"), "UPDATE header SET value = CAST('key-fool' AS BLOB) WHERE name = 'key-source'")
            let directory = try StateDirectory.open(creating: bed.path)
            struct Renamed: KeySource {
                let file: KeyFileSource
                var name: String { "key-fool" }
                func makeKey(
                    for vaultID: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
                ) throws(VaultError) -> NewKey {
                    try file.makeKey(for: vaultID, passphrase: nil, attempt)
                }
                func key(
                    for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _ attempt: KeyAttempt
                ) throws(VaultError) -> Secret {
                    try file.key(for: vaultID, parameters: parameters, passphrase: nil, attempt)
                }
            }
            let error = try await vaultError {
                _ = try await bed.open(keySource: Renamed(file: KeyFileSource(in: directory)))
            }
            #expect(error?.text(of: VaultError.wrongKey) != nil)
        }
    }

    @Test("a key of another length is refused before anything is made")
    func shortKey() async throws {
        try await withVaultBed { bed in
            let error = try await vaultError { _ = try await bed.open(keySource: RememberedKeys(keyCount: 16)) }
            let text = try #require(error?.text(of: VaultError.keyUnavailable))
            #expect(text.contains("16"))
            #expect(try bed.contents().keys.sorted() == ["vault.lock"])
        }
    }
}
