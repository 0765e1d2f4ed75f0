import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// A format's vaults are packed by the programs that write it, and never again: `BROKER_PACK_VAULTS=FOLDER` in the environment makes
/// the first test write them there. `BROKER_PACKED_BY=COMMIT` names programs of an earlier commit (`BROKER_TEST_PROGRAMS`).
@Suite("Today's programs open vaults of earlier programs with their whole content", .serialized)
struct PackedVaultTests {
    private static let packed = ProcessInfo.processInfo.environment["BROKER_PACK_VAULTS"]
    private static let commit = ProcessInfo.processInfo.environment["BROKER_PACKED_BY"]
    /// A hundred years: tokens in a vault are still valid for a later broker.
    private static let lifetime = 100 * 365 * 86_400
    /// Root packed them. Another user becomes root in a user namespace: the records of another uid are not theirs.
    private static let asPacker = geteuid() == 0 ? [] : ["unshare", "--map-root-user"]
    private static let uids: [UInt32] = [12_991, 12_992]

    @Test(
        "a vault of each kind is packed",
        .enabled(if: packed != nil, "writes fixtures"), arguments: PackedVault.Kind.allCases)
    func pack(kind: PackedVault.Kind) async throws {
        let folder = try #require(Self.packed)
        try await withTestBed { bed in
            let vault = kind == .system ? try await makeSystem(in: bed) : try await make(kind, in: bed)
            let mark = Self.commit.map { "\($0)-" } ?? ""
            try vault.write(
                to: "\(folder)/vault-format-\(vault.format)-\(mark)\(kind).sql",
                madeBy: Self.commit ?? BrokerVersion.text)
        }
    }

    /// Two people, three apps, a key for DPoP, two grants, an account removed from one app, and the audit log of all that.
    private func make(_ kind: PackedVault.Kind, in bed: TestBed) async throws -> PackedVault {
        let scene = try await DevelopmentScene.make(in: bed, policy: { $0.accessTokenLifetime = Self.lifetime })
        try await scene.register("mail", clientID: "demo-two")
        try await scene.register("agenda")
        for person in [Person.alice, .bob] {
            try await scene.signIn(person)
            try await scene.signIn(person, app: "mail")
        }
        let (provider, broker) = (scene.provider, scene.broker)
        _ = try await broker.signIn(app: "agenda", scopes: [DevelopmentScene.scope], ["tokenType": "DPoP"], in: bed) {
            try await provider.signIn(.alice, at: $0, in: bed)
        }
        for line in [
            ["grants", "approve", "--caller", "sandboxed:flatpak:org.example.Game", "--app", "notes"],
            [
                "grants", "approve", "--caller", "sandboxed:flatpak:org.example.Game", "--app", "mail", "--account",
                "bob",
            ],
            ["accounts", "remove", "bob", "--app", "mail"],
        ] {
            let done = try await broker.ctl(line)
            #expect(done.succeeded, "\(done)")
        }
        if kind == .passphrase {
            let set = try await broker.ctl(
                ["key", "set-source", "passphrase", "--stdin"], input: PackedVault.passphrase + "\n")
            #expect(set.succeeded, "\(set)")
        }
        var content = try await PackedContent { try await broker.call($0, $1) }.ofToday()
        content["tokens"] = .object(try await PackedContent.tokens(of: broker))
        var exported: String?
        if kind == .user {
            let saved = try await broker.ctl(
                ["cache", "export", bed.path("backup"), "--stdin"], input: PackedVault.passphrase + "\n")
            #expect(saved.succeeded, "\(saved)")
            exported = try Data(contentsOf: URL(filePath: bed.path("backup"))).base64EncodedString()
        }
        await broker.stop()
        var vault = try await PackedVault.pack(broker.stateDirectory, kind, ["0": .object(content)], in: bed)
        vault.backup = exported
        return vault
    }

    private func makeSystem(in bed: TestBed) async throws -> PackedVault {
        let scene = try await SystemScene.make(in: bed)
        var content: JSONObject = [:]
        for (uid, person) in zip(Self.uids, [Person.alice, .bob]) {
            let user = try await scene.member(uid)
            try await scene.signIn(user, person)
            content[String(uid)] = .object(try await PackedContent(user.result).ofToday())
        }
        await scene.broker.stop()
        return try await PackedVault.pack(scene.broker.stateDirectory, .system, content, in: bed)
    }

    // MARK: Today's programs

    @Test("today's format is among them, of each kind", arguments: PackedVault.Kind.allCases)
    func isPacked(kind: PackedVault.Kind) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            await broker.stop()
            let today = try await PackedVault.pack(broker.stateDirectory, .user, [:], in: bed)
            let file = PackageTree.fixture("vault-format-\(today.format)-\(kind).sql")
            #expect(
                FileManager.default.fileExists(atPath: file), "BROKER_PACK_VAULTS writes it, see docs/promises.md")
        }
    }

    @Test(
        "a person's vault opens with apps, people by the same ids, tokens, keys, grants and the audit log",
        arguments: PackageTree.fixtures(like: /vault-format-\d+-(?:[0-9a-f]+-)?(?:user|passphrase)\.sql/))
    func ofPerson(fixture: String) async throws {
        try await withTestBed { bed in
            let vault = try PackedVault(reading: PackageTree.fixture(fixture))
            let packed = try #require(vault.content["0"]?.objectValue)
            let folder = try await vault.unpack(in: bed)
            for _ in 0..<2 {
                let broker = try await BrokerProcess.start(in: bed) {
                    $0.stateDirectory = folder
                    // The last commit of this vault may be remembered there from another run.
                    $0.wrapper = Self.asPacker + ["env", "XDG_RUNTIME_DIR=\(bed.directory.path)"]
                }
                if vault.kind == .passphrase {
                    let opened = try await broker.ctl(["unlock", "--stdin"], input: PackedVault.passphrase + "\n")
                    #expect(opened.succeeded, "\(opened)")
                }
                try await PackedContent { try await broker.call($0, $1) }.expect(packed)
                if let tokens = packed["tokens"] {
                    #expect(try await PackedContent.tokens(of: broker) == tokens.objectValue)
                }
                // Reads the whole content of a backup: refresh tokens, ID tokens and keys as well.
                let saved = try await broker.ctl(
                    ["cache", "export", bed.path("backup"), "--stdin", "--force"], input: PackedVault.passphrase + "\n")
                #expect(saved.succeeded, "\(saved)")
                let status = try await broker.call("broker.status")
                #expect(status[path: "vault.quarantined"] == 0 && status[path: "vault.missing"] == 0)
                #expect(status[path: "vault.rolledBack"] == false)
                let log = try await broker.ctl(["audit"])
                #expect(log.succeeded && log.errors.isEmpty, "\(log)")
                // Programs of format 1 stored none.
                for method in vault.format > 1 ? ["apps.register", "grants.approve"] : [] {
                    #expect(log.output.contains(method), "\(log)")
                }
                await broker.stop()
            }
        }
    }

    /// Not for the programs of format 1: see docs/promises.md.
    @Test(
        "an earlier broker's backup is imported by today's: apps, people, tokens and keys",
        arguments: PackageTree.fixtures(like: /vault-format-2-[0-9a-f]+-user\.sql/))
    func backup(fixture: String) async throws {
        try await withTestBed { bed in
            let vault = try PackedVault(reading: PackageTree.fixture(fixture))
            let file = bed.path("backup")
            try #require(vault.backup.flatMap { Data(base64Encoded: $0) }).write(to: URL(filePath: file))
            let broker = try await BrokerProcess.start(in: bed)
            let merged = try await broker.ctl(
                ["cache", "import", file, "--stdin"], input: PackedVault.passphrase + "\n")
            #expect(merged.succeeded, "\(merged)")
            let records = try await broker.call("cache.stats")
            for kind in ["apps", "accounts", "refreshTokens", "idTokens", "proofKeys"] {
                #expect(records[path: "records.\(kind)"] == vault.content["0"]?["records.\(kind)"], "\(kind)")
            }
            await broker.stop()
        }
    }

    @Test(
        "a system broker's vault opens for each user", .needsRoot,
        arguments: PackageTree.fixtures(like: /vault-format-\d+-(?:[0-9a-f]+-)?system\.sql/))
    func ofMachine(fixture: String) async throws {
        try await withTestBed { bed in
            let vault = try PackedVault(reading: PackageTree.fixture(fixture))
            let folder = try await vault.unpack(in: bed, owner: SystemScene.account)
            let broker = try await SystemScene.open(folder, in: bed)
            for uid in Self.uids {
                let user = try OtherUser.connect(uid, to: broker.socket, in: bed)
                try await PackedContent(user.result).expect(try #require(vault.content[String(uid)]?.objectValue))
            }
            await broker.stop()
        }
    }
}

extension OtherUser {
    /// - Throws: for an error.
    fileprivate func result(_ method: String, _ params: JSONObject) async throws -> JSONObject {
        let answer = try await ask(method, params)
        guard let result = answer["result"]?.objectValue else { throw ProcessFailure("\(method): \(answer)") }
        return result
    }
}
