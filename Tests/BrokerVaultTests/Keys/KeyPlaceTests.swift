import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// A key file that lies apart from its vault.
@Suite("A key file in a folder of its own")
struct KeyPlaceTests {
    private struct Folders {
        let bed: VaultBed
        let keys: String

        init(_ bed: VaultBed) {
            self.bed = bed
            keys = bed.bed.path("keys")
        }

        func source() throws -> KeyFileSource {
            KeyFileSource(
                in: try StateDirectory.open(creating: bed.path), apartIn: try StateDirectory.open(creating: keys))
        }

        func use(_ body: (Vault) async throws -> Void) async throws {
            let vault = try await bed.open(keySource: try source())
            do { try await body(vault) } catch {
                await vault.close()
                throw error
            }
            await vault.close()
        }

        var contents: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: keys).sorted() } }
        var keyFiles: [String] { get throws { try contents.filter { $0.hasSuffix(".key") } } }
    }

    @Test("is made there, marked for programs that make copies, and not beside the vault")
    func made() async throws {
        try await withVaultBed { bed in
            let folders = Folders(bed)
            try await folders.use { vault in try await vault.store(Sample.refreshToken(), secret: "r") }
            #expect(try folders.keyFiles.count == 1)
            #expect(try folders.contents.filter { !$0.hasSuffix(".key") } == [".gitignore", "CACHEDIR.TAG"])
            #expect(try bed.contents().keys.sorted() == ["vault.db", "vault.lock"])
            try await folders.use { vault throws in
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            }
        }
    }

    @Test("takes over the key of a vault from before, once that has opened it")
    func moved() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in try await vault.store(Sample.refreshToken(), secret: "r") }
            let key = try bed.bytes("vault.key")
            let folders = Folders(bed)
            for _ in 0..<2 {
                try await folders.use { vault throws in
                    #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
                }
                #expect(try bed.contents().keys.sorted() == ["vault.db", "vault.lock"])
                let name = try #require(try folders.keyFiles.first)
                #expect(try Data(contentsOf: URL(filePath: "\(folders.keys)/\(name)")) == key)
            }
        }
    }

    @Test("a move that was interrupted after any of its steps is finished by the next start", arguments: [0, 1, 2])
    func interrupted(step: Int) async throws {
        try await withVaultBed { bed in
            let folders = Folders(bed)
            try await folders.use { vault in try await vault.store(Sample.refreshToken(), secret: "r") }
            let name = try #require(try folders.keyFiles.first)
            let moved = URL(filePath: "\(folders.keys)/\(name)")
            let beside = bed.file("vault.key")
            try FileManager.default.copyItem(at: moved, to: beside)
            // Copied in part; copied and named; the old one not yet gone.
            if step < 2 { try FileManager.default.removeItem(at: moved) }
            if step == 1 { try Data("token-br".utf8).write(to: URL(filePath: moved.path + ".new")) }
            try await folders.use { vault throws in
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            }
            #expect(try folders.keyFiles == [name])
            #expect(!FileManager.default.fileExists(atPath: beside.path))
        }
    }

    @Test("a foreign key beside the vault is neither moved nor removed")
    func foreign() async throws {
        try await withVaultBed { bed in
            let folders = Folders(bed)
            try await folders.use { _ in }
            let text = "token-broker vault key 1\n" + String(repeating: "0", count: 64) + "\n"
            try Data(text.utf8).write(to: bed.file("vault.key"))
            chmod(bed.file("vault.key").path, 0o600)
            try await folders.use { _ in }
            #expect(try String(decoding: bed.bytes("vault.key"), as: UTF8.self) == text)
        }
    }

    @Test("two vaults have two keys in one folder, and one that changes its source takes only its own away")
    func twoVaults() async throws {
        try await withVaultBed { first in
            let folders = Folders(first)
            try await folders.use { _ in }
            let other = VaultBed(first.bed, folder: "other")
            let otherFolders = Folders(other)
            try await otherFolders.use { _ in }
            #expect(try folders.keyFiles.count == 2)
            let directory = try StateDirectory.open(creating: other.path)
            let keys = try StateDirectory.open(creating: folders.keys)
            let vault = try await Vault.open(
                in: directory,
                keySources: KeySourceChoice(
                    KeySources.all(in: KeySourceContext(directory: directory, keyDirectory: keys))),
                at: 0, logger: .silent)
            try await vault.setKeySource("passphrase", passphrase: Secret("a long sentence"), at: 0)
            await vault.close()
            #expect(try folders.keyFiles.count == 1)
            try await folders.use { _ in }
        }
    }
}
