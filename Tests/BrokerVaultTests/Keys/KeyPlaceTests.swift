import BrokerModel
import BrokerTestSupport
import BrokerVault
import BrokerVaultSQLite
import Foundation
import Testing

/// A key file in a different folder than its vault.
@Suite("A key file in a separate folder")
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

    @Test("a new key is made in its folder, marked for backup programs, and not next to the vault")
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

    @Test("an empty mark, which a full disk left behind, is written anew")
    func emptyMark() async throws {
        try await withVaultBed { bed in
            let folders = Folders(bed)
            try await folders.use { _ in }
            let mark = "\(folders.keys)/CACHEDIR.TAG"
            let whole = try Data(contentsOf: URL(filePath: mark))
            #expect(truncate(mark, 0) == 0)
            try FileManager.default.removeItem(atPath: bed.path)
            for key in try folders.keyFiles { try FileManager.default.removeItem(atPath: "\(folders.keys)/\(key)") }
            try await folders.use { _ in }
            #expect(try Data(contentsOf: URL(filePath: mark)) == whole)
        }
    }

    @Test("the key of an earlier vault is moved there once it has opened the vault")
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

    @Test("a move that was interrupted after any step is completed by the next start", arguments: [0, 1, 2])
    func interrupted(step: Int) async throws {
        try await withVaultBed { bed in
            let folders = Folders(bed)
            try await folders.use { vault in try await vault.store(Sample.refreshToken(), secret: "r") }
            let name = try #require(try folders.keyFiles.first)
            let moved = URL(filePath: "\(folders.keys)/\(name)")
            let nextToVault = bed.file("vault.key")
            try FileManager.default.copyItem(at: moved, to: nextToVault)
            // Partly copied; copied and named; the old one not removed yet.
            if step < 2 { try FileManager.default.removeItem(at: moved) }
            if step == 1 { try Data("token-br".utf8).write(to: URL(filePath: moved.path + ".new")) }
            try await folders.use { vault throws in
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            }
            #expect(try folders.keyFiles == [name])
            #expect(!FileManager.default.fileExists(atPath: nextToVault.path))
        }
    }

    @Test("a foreign key next to the vault is neither moved nor removed")
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

    @Test("two vaults have two keys in one folder, and a change of source removes only its own")
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
                in: directory, rows: SQLiteStore(in: directory),
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
