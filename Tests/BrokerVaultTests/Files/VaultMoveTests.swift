import BrokerModel
import BrokerTestSupport
import BrokerVault
import BrokerVaultSQLite
import Foundation
import Testing

@Suite("A vault in an earlier release's folder")
struct VaultMoveTests {
    /// A home with a vault in the folder of systemd 252, and the path of the broker's own folder, which does not exist yet.
    private struct Home {
        let earlier: VaultBed
        let own: VaultBed
        let log = LogCollector()

        init(_ bed: TestBed) {
            earlier = VaultBed(bed, folder: "config")
            own = VaultBed(bed, folder: "state")
        }

        func fill(_ secret: String = "r", in bed: VaultBed) async throws {
            try await bed.use { vault in try await vault.store(Sample.refreshToken(), secret: secret) }
        }

        func directory() throws(VaultError) -> StateDirectory {
            try .open(creating: own.path, movingFrom: earlier.path, logger: log.logger)
        }

        func secrets() async throws -> [String] {
            let directory = try directory()
            let sources = KeySources.all(in: KeySourceContext(directory: directory))
            let vault = try await Vault.open(
                in: directory, rows: SQLiteStore(in: directory), keySources: KeySourceChoice(sources), at: 0,
                logger: .silent)
            let found = try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).map {
                try vault.secret(of: $0.sealed).revealed()
            }
            await vault.close()
            return found
        }

        func refusal() async throws -> String {
            let (before, beforeOwn) = (try earlier.contents(), try? own.contents())
            let error = try #require(try await vaultError { _ = try directory() })
            #expect(try earlier.contents() == before)
            if let beforeOwn { #expect(try own.contents() == beforeOwn) }
            return "\(error)"
        }
    }

    private func withHome(_ body: (Home) async throws -> Void) async throws {
        try await withTestBed { try await body(Home($0)) }
    }

    @Test("one folder under both names keeps its vault")
    func sameFolder() async throws {
        try await withHome { home in
            try await home.fill(in: home.own)
            try FileManager.default.createSymbolicLink(
                atPath: home.earlier.path, withDestinationPath: home.own.path)
            let files = try home.own.contents().keys.sorted()
            for _ in 0..<2 { #expect(try await home.secrets() == ["r"]) }
            #expect(try home.own.contents().keys.sorted() == files)
        }
    }

    @Test("the vault is moved once with key and log, without settings, and a link shows the new place")
    func moved() async throws {
        try await withHome { home in
            try await home.fill(in: home.earlier)
            // The state that a killed broker leaves.
            let vault = try await home.earlier.open()
            try await vault.store(Sample.refreshToken("other"), secret: "late")
            let files = try home.earlier.contents()
            await vault.close()
            for (name, content) in files {
                try content.write(to: home.earlier.file(name))
                chmod(home.earlier.file(name).path, 0o600)
            }
            try Data("log.level = \"debug\"\n".utf8).write(to: home.earlier.file("config.toml"))

            for _ in 0..<2 { #expect(try await home.secrets().sorted() == ["late", "r"]) }
            #expect(try home.earlier.contents().keys.sorted() == ["config.toml", "vault.db"])
            let link = try FileManager.default.destinationOfSymbolicLink(atPath: home.earlier.file("vault.db").path)
            #expect(link == home.own.file("vault.db").path)
            #expect(home.log.lines.filter { $0.contains("the vault was moved") }.count == 1)
        }
    }

    @Test("the vault is moved even if systemd replaced the new folder by a link to the old one")
    func linked() async throws {
        try await withHome { home in
            try await home.fill(in: home.earlier)
            symlink("config", home.own.path)
            #expect(try await home.secrets() == ["r"])
            let kind = try FileManager.default.attributesOfItem(atPath: home.own.path)[.type]
            #expect(kind as? FileAttributeType == .typeDirectory)
        }
    }

    @Test("a folder with settings only is left unchanged")
    func settingsOnly() async throws {
        try await withHome { home in
            try FileManager.default.createDirectory(atPath: home.earlier.path, withIntermediateDirectories: false)
            try Data().write(to: home.earlier.file("config.toml"))
            symlink("config", home.own.path)
            #expect(try await home.secrets().isEmpty)
            #expect(try home.earlier.contents().keys.sorted() == ["config.toml"])
            #expect(try home.own.contents().keys.contains("vault.db"))
        }
    }

    @Test("a move to a folder with another vault is refused, naming both, and both vaults stay")
    func another() async throws {
        try await withHome { home in
            try await home.fill(in: home.earlier)
            try await home.fill("other", in: home.own)
            let text = try await home.refusal()
            #expect(text.contains(home.earlier.path) && text.contains(home.own.path), "\(text)")
        }
    }

    @Test("a vault that another broker uses is not moved")
    func inUse() async throws {
        try await withHome { home in
            let vault = try await home.earlier.open()
            let text = try await home.refusal()
            #expect(text.contains("Another broker works on \(home.earlier.path)"), "\(text)")
            await vault.close()
        }
    }

    @Test("a link that the user made is refused, and its target is named")
    func foreignLink() async throws {
        try await withHome { home in
            try await home.fill(in: home.earlier)
            let elsewhere = try home.earlier.bed.makeDirectory("elsewhere")
            symlink(elsewhere, home.own.path)
            #expect(try await home.refusal().contains("a link to \(elsewhere)"))
        }
    }

    @Test("a link to a folder that systemd prepared is accepted")
    func prepared() async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("private")
            symlink(folder, bed.path("state"))
            #expect(try StateDirectory.open(creating: bed.path("state"), followingLink: true).path == folder)
        }
    }
}
