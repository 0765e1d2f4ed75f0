import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("The state directory")
struct StateDirectoryTests {
    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func refusal(_ path: String) async throws -> String? {
        let error = try await vaultError { _ = try StateDirectory.open(creating: path) }
        return error?.text(of: VaultError.notPrivate)
    }

    @Test("a missing state directory is made with its parents, for its owner alone")
    func made() async throws {
        try await withTestBed { bed in
            let directory = try StateDirectory.open(creating: bed.path("one/two/three/"))
            #expect(directory.path == bed.path("one/two/three"))
            for name in ["one", "one/two", "one/two/three"] { #expect(try mode(bed.path(name)) == 0o700) }
            _ = try StateDirectory.open(creating: bed.path("one/two/three"))
        }
    }

    @Test("a directory open to others is refused, not repaired", arguments: [0o755, 0o750, 0o701, 0o770, 0o777])
    func tooOpen(mode: Int) async throws {
        try await withTestBed { bed in
            let path = try bed.makeDirectory("state")
            chmod(path, mode_t(mode))
            #expect(try await refusal(path)?.contains("chmod 700 \(path)") == true)
            #expect(try self.mode(path) == mode)
        }
    }

    @Test(
        "a directory of another user is refused",
        .enabled(if: Prerequisite.root.shouldRun, "giving a directory away needs root"))
    func foreign() async throws {
        try await withTestBed { bed in
            let path = try bed.makeDirectory("state")
            #expect(chown(path, 65_534, 65_534) == 0)
            #expect(try await refusal(path)?.contains("65534") == true)
        }
    }

    @Test(
        "a directory that is a link is refused in any spelling; a link above it is accepted",
        arguments: ["", "/"])
    func link(suffix: String) async throws {
        try await withTestBed { bed in
            let real = try bed.makeDirectory("real")
            symlink(real, bed.path("link"))
            #expect(try await refusal(bed.path("link") + suffix)?.contains("is a link to \(real)") == true)
            let below = try StateDirectory.open(creating: bed.path("link") + "/below" + suffix)
            #expect(below.path == real + "/below")
            let vault = try await Vault.open(in: below, keySource: KeyFileSource(in: below), logger: .silent)
            await vault.close()
        }
    }

    @Test("a file in place of the directory is refused")
    func file() async throws {
        try await withTestBed { bed in
            try Data().write(to: URL(filePath: bed.path("file")))
            #expect(try await refusal(bed.path("file"))?.contains("is a file") == true)
            let below = try await vaultError { _ = try StateDirectory.open(creating: bed.path("file/below")) }
            #expect(below?.text(of: VaultError.io) != nil)
        }
    }

    @Test("all files in the directory are for its owner alone")
    func fileModes() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.refreshToken(), secret: "r")
                let names = try bed.contents().keys.sorted()
                #expect(names == ["vault.db", "vault.db-wal", "vault.key", "vault.lock"])
                for name in names { #expect(try mode(bed.file(name).path) == 0o600, "\(name)") }
            }
        }
    }

    @Test("a vault file that is a link or open to others is refused", arguments: ["vault.db", "vault.db-wal"])
    func openVaultFile(name: String) async throws {
        try await withVaultBed { bed in
            try await bed.use { try await $0.store(Sample.refreshToken(), secret: "r") }
            if name != "vault.db" { try Data().write(to: bed.file(name)) }
            chmod(bed.file(name).path, 0o644)
            let tooOpen = try await vaultError { _ = try await bed.open() }
            chmod(bed.file(name).path, 0o600)
            try FileManager.default.moveItem(at: bed.file(name), to: bed.file("elsewhere"))
            symlink("elsewhere", bed.file(name).path)
            let linked = try await vaultError { _ = try await bed.open() }
            guard case .notPrivate(let first) = tooOpen, case .notPrivate(let second) = linked else {
                Issue.record("\(String(describing: tooOpen)), \(String(describing: linked))")
                return
            }
            #expect(first.contains("chmod 600"))
            #expect(second.contains("symbolic link"))
        }
    }

    @Test("only one broker at a time can use the directory")
    func inUse() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.refreshToken(), secret: "r")
                let error = try await vaultError { _ = try await bed.open() }
                let text = try #require(error?.text(of: VaultError.inUse))
                #expect(text.contains(bed.path))
                try await vault.store(Sample.refreshToken(), secret: "still mine")
            }
            await (try await bed.open()).close()
        }
    }

    @Test("the directory is free again when a vault is dropped without being closed")
    func dropped() async throws {
        try await withVaultBed { bed in
            var vault: Vault? = try await bed.open()
            try await vault?.store(Sample.refreshToken(), secret: "r")
            vault = nil
            try await eventually("the directory is free") {
                guard let vault = try? await bed.open() else { return false }
                let count = try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count
                await vault.close()
                return count == 1
            }
        }
    }
}
