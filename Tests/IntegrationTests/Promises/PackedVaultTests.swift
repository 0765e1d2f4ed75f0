import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// A format's vaults are packed while its programs are today's, and never anew: `BROKER_PACK_VAULTS=FOLDER` in the environment has
/// the first test write them there.
@Suite("A vault that earlier programs wrote is opened by today's, with all that was in it", .serialized)
struct PackedVaultTests {
    private static let packed = ProcessInfo.processInfo.environment["BROKER_PACK_VAULTS"]
    private static let uids: [UInt32] = [12_991, 12_992]

    @Test("pack them", .enabled(if: packed != nil, "writes fixtures"), arguments: PackedVault.Kind.allCases)
    func pack(kind: PackedVault.Kind) async throws {
        let folder = try #require(Self.packed)
        try await withTestBed { bed in
            let vault = kind == .system ? try await makeSystem(in: bed) : try await make(kind, in: bed)
            let format = try #require(vault.sql.firstMatch(of: /user_version = (\d+)/)?.1)
            try vault.write(to: "\(folder)/vault-format-\(format)-\(kind).sql", madeBy: BrokerVersion.text)
        }
    }

    /// Two people, three apps, a key for DPoP, two grants, an account that one app lost, and the audit log of all that.
    private func make(_ kind: PackedVault.Kind, in bed: TestBed) async throws -> PackedVault {
        let scene = try await DevelopmentScene.make(in: bed)
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
        let content = try await Self.content { try await broker.call($0, $1) }
        await broker.stop()
        return try await PackedVault.pack(broker.stateDirectory, kind, ["0": .object(content)], in: bed)
    }

    private func makeSystem(in bed: TestBed) async throws -> PackedVault {
        let scene = try await SystemScene.make(in: bed)
        var content: JSONObject = [:]
        for (uid, person) in zip(Self.uids, [Person.alice, .bob]) {
            let user = try await scene.member(uid)
            try await scene.signIn(user, person)
            content[String(uid)] = .object(try await Self.content(user.result))
        }
        await scene.broker.stop()
        return try await PackedVault.pack(scene.broker.stateDirectory, .system, content, in: bed)
    }

    /// What outlives time: documents of providers and the audit log grow.
    private static func content(
        _ ask: (String, JSONObject) async throws -> JSONObject
    ) async throws -> JSONObject {
        func list(_ method: String, _ name: String, _ members: [String]) async throws -> JSONValue {
            let params: JSONObject = method == "accounts.list" ? ["includeSignedOut": true] : [:]
            let items = try await ask(method, params)[name]?.arrayValue ?? []
            return .array(
                items.map { item in
                    .object(
                        Dictionary(
                            uniqueKeysWithValues: members.compactMap { name in
                                item.objectValue?[name].map { (name, $0) }
                            }))
                })
        }
        var records = try await ask("cache.stats", [:])["records"]?.objectValue ?? [:]
        for name in ["documents", "audit", "clients"] { records[name] = nil }
        return [
            "accounts": try await list("accounts.list", "accounts", ["id", "username", "homeAccountId", "signedIn"]),
            "apps": try await list("apps.list", "apps", ["name", "clientId", "authority"]),
            "grants": try await list("grants.list", "grants", ["id", "caller", "app", "account", "createdOn"]),
            "records": .object(records),
        ]
    }

    // MARK: Today's programs

    @Test("today's format is among them, of each kind", arguments: PackedVault.Kind.allCases)
    func isPacked(kind: PackedVault.Kind) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            await broker.stop()
            let today = try await PackedVault.pack(broker.stateDirectory, .user, [:], in: bed)
            let format = try #require(today.sql.firstMatch(of: /user_version = (\d+)/)?.1)
            let file = PackageTree.fixture("vault-format-\(format)-\(kind).sql")
            #expect(
                FileManager.default.fileExists(atPath: file), "BROKER_PACK_VAULTS writes it, see docs/promises.md")
        }
    }

    @Test(
        "of a person: apps, people by the same ids, tokens, keys, grants and the audit log",
        arguments: PackageTree.fixtures(like: /vault-format-\d+-(?:user|passphrase)\.sql/))
    func ofPerson(fixture: String) async throws {
        try await withTestBed { bed in
            let vault = try PackedVault(reading: PackageTree.fixture(fixture))
            let folder = try await vault.unpack(in: bed)
            for _ in 0..<2 {
                let broker = try await BrokerProcess.start(in: bed) {
                    $0.stateDirectory = folder
                    // The last commit of this vault may be remembered there since another run.
                    $0.wrapper = ["env", "XDG_RUNTIME_DIR=\(bed.directory.path)"]
                }
                if vault.kind == .passphrase {
                    let opened = try await broker.ctl(["unlock", "--stdin"], input: PackedVault.passphrase + "\n")
                    #expect(opened.succeeded, "\(opened)")
                }
                let content = try await Self.content { try await broker.call($0, $1) }
                #expect(content == vault.content["0"]?.objectValue)
                let status = try await broker.call("broker.status")
                #expect(status[path: "vault.quarantined"] == 0 && status[path: "vault.missing"] == 0)
                #expect(status[path: "vault.rolledBack"] == false)
                let log = try await broker.ctl(["audit"])
                #expect(log.succeeded && log.output.contains("apps.register"), "\(log)")
                #expect(log.output.contains("grants.approve") && log.errors.isEmpty, "\(log)")
                await broker.stop()
            }
        }
    }

    @Test(
        "of a broker for a whole machine: each user's", .needsRoot,
        arguments: PackageTree.fixtures(like: /vault-format-\d+-system\.sql/))
    func ofMachine(fixture: String) async throws {
        try await withTestBed { bed in
            let vault = try PackedVault(reading: PackageTree.fixture(fixture))
            let folder = try await vault.unpack(in: bed, owner: SystemScene.account)
            let broker = try await SystemScene.open(folder, in: bed)
            for uid in Self.uids {
                let user = try OtherUser.connect(uid, to: broker.socket, in: bed)
                let content = try await Self.content(user.result)
                #expect(content == vault.content[String(uid)]?.objectValue)
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
