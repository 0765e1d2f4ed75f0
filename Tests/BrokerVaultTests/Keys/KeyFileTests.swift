import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("The key file")
struct KeyFileTests {
    private func fill(_ bed: VaultBed) async throws {
        try await bed.use { try await $0.store(Sample.refreshToken(), secret: "r") }
    }

    /// Opens a vault that must not open; the directory must stay unchanged.
    private func refusal(_ bed: VaultBed) async throws -> VaultError? {
        let before = try bed.contents().filter { !$0.key.hasSuffix("-shm") && !$0.value.isEmpty }
        let error = try await vaultError { await (try await bed.open()).close() }
        #expect(try bed.contents().filter { !$0.key.hasSuffix("-shm") && !$0.value.isEmpty } == before)
        return error
    }

    private func expectUnavailable(_ bed: VaultBed, saying word: String) async throws {
        let error = try await refusal(bed)
        let text = try #require(error?.text(of: VaultError.keyUnavailable))
        #expect(text.contains(word), "\(text)")
    }

    @Test("the key file is made at first start, for its owner alone, and used from then on")
    func firstStart() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            let key = try bed.bytes("vault.key")
            let attributes = try FileManager.default.attributesOfItem(atPath: bed.file("vault.key").path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let lines = String(decoding: key, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 3)
            #expect(lines.first == "token-broker vault key 1")
            #expect(lines[1].count == 64 && lines[1].allSatisfy(\.isHexDigit))
            try await bed.use { vault throws in
                #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
            }
            #expect(try bed.bytes("vault.key") == key)
            #expect(try bed.contents().keys.sorted() == ["vault.db", "vault.key", "vault.lock"])
        }
    }

    @Test("each vault has a different key, which is not in the vault")
    func isRandom() async throws {
        try await withVaultBed { one in
            try await withVaultBed { two in
                try await fill(one)
                try await fill(two)
                let digits = try one.bytes("vault.key").suffix(65).prefix(64)
                #expect(try digits != two.bytes("vault.key").suffix(65).prefix(64))
                var raw = Data()
                var rest = digits
                while let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                    raw.append(byte)
                    rest = rest.dropFirst(2)
                }
                #expect(raw.count == 32)
                #expect(try one.bytes("vault.db").range(of: raw) == nil)
                #expect(try one.bytes("vault.db").range(of: digits) == nil)
            }
        }
    }

    @Test("a missing key file of an existing vault is an error, and no new one is made")
    func missing() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try FileManager.default.removeItem(at: bed.file("vault.key"))
            try await expectUnavailable(bed, saying: "missing")
            #expect(!FileManager.default.fileExists(atPath: bed.file("vault.key").path))
        }
    }

    @Test("another vault's key is reported as wrong, and does not open this vault")
    func wrong() async throws {
        try await withVaultBed { bed in
            try await withVaultBed { other in
                try await fill(bed)
                try await fill(other)
                let own = try bed.bytes("vault.key")
                try other.bytes("vault.key").write(to: bed.file("vault.key"))
                chmod(bed.file("vault.key").path, 0o600)
                let error = try await refusal(bed)
                let text = try #require(error?.text(of: VaultError.wrongKey))
                #expect(text.contains("vault.db") && text.contains("nothing was changed"))
                try own.write(to: bed.file("vault.key"))
                chmod(bed.file("vault.key").path, 0o600)
                try await bed.use { vault throws in
                    #expect(try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).count == 1)
                }
            }
        }
    }

    @Test("a key file open to others is refused", arguments: [0o640, 0o604, 0o620, 0o666, 0o601])
    func tooOpen(mode: Int) async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            chmod(bed.file("vault.key").path, mode_t(mode))
            try await expectUnavailable(bed, saying: "chmod 600")
        }
    }

    @Test(
        "a key file of another user is refused",
        .enabled(if: Prerequisite.root.shouldRun, "giving a file away needs root"))
    func foreign() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            #expect(chown(bed.file("vault.key").path, 65_534, 65_534) == 0)
            try await expectUnavailable(bed, saying: "65534")
        }
    }

    @Test("a key file that is a link is refused, even to a good key")
    func link() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try FileManager.default.moveItem(at: bed.file("vault.key"), to: bed.file("elsewhere"))
            symlink("elsewhere", bed.file("vault.key").path)
            try await expectUnavailable(bed, saying: "symbolic link")
        }
    }

    @Test("a directory or a pipe in place of the key file is refused without blocking")
    func notAFile() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try FileManager.default.removeItem(at: bed.file("vault.key"))
            mkfifo(bed.file("vault.key").path, 0o600)
            let error = try await vaultError { _ = try await bed.open() }
            let text = try #require(error?.text(of: VaultError.keyUnavailable))
            #expect(text.contains("regular file"))
        }
    }

    @Test(
        "an invalid or truncated key file is refused",
        arguments: [
            "", "token-broker vault key 1\n", "token-broker vault key 2\n" + String(repeating: "a", count: 64) + "\n",
            "token-broker vault key 1\n" + String(repeating: "a", count: 63) + "\n",
            "token-broker vault key 1\n" + String(repeating: "a", count: 65) + "\n",
            "token-broker vault key 1\n" + String(repeating: "g", count: 64) + "\n",
            "token-broker vault key 1\n" + String(repeating: "a", count: 63) + " \n",
            "token-broker vault key 1\n" + String(repeating: "a", count: 64) + "x",
        ])
    func notAKey(content: String) async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            try Data(content.utf8).write(to: bed.file("vault.key"))
            chmod(bed.file("vault.key").path, 0o600)
            try await expectUnavailable(bed, saying: "not a key file")
        }
    }

    @Test("the key file of an interrupted first start is used for the new vault")
    func interruptedFirstStart() async throws {
        try await withVaultBed { bed in
            try await fill(bed)
            let key = try bed.bytes("vault.key")
            try FileManager.default.removeItem(at: bed.file("vault.db"))
            // It was not there long enough for an anchor.
            try FileManager.default.removeItem(atPath: bed.anchors)
            for name in ["vault.key.new", "vault.db.new", "vault.db.new-wal"] {
                try Data("left behind".utf8).write(to: bed.file(name))
            }
            try await fill(bed)
            #expect(try bed.bytes("vault.key") == key)
            try FileManager.default.removeItem(at: bed.file("vault.db"))
            try FileManager.default.removeItem(at: bed.file("vault.key"))
            try await fill(bed)
            #expect(try bed.bytes("vault.key") != key)
            #expect(try bed.contents().keys.sorted() == ["vault.db", "vault.key", "vault.lock"])
        }
    }
}
