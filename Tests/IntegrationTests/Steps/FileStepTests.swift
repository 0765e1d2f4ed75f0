import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("First starts, migrations and backups that end at any of their steps")
struct FileStepTests {
    private static let passphrase = "correct horse battery\n"

    /// Starts a broker on a separate state for each step, lets that step fail, and starts one without faults there.
    ///
    /// - Parameters:
    ///   - isEndedGently: whether the broker's actions at its end are part of the steps, as in ``SteppedScene``.
    ///   - prepare: creates the initial state.
    ///   - operate: runs the failing broker. It may end, or continue as one that cannot start.
    private func startAtEveryStep(
        _ fault: FaultPoints.Fault, in bed: TestBed, namingState namesState: Bool = true,
        endingGently isEndedGently: Bool = false,
        prepare: (String) async throws -> Void = { _ in },
        operate: (BrokerProcess) async throws -> Void, check: (BrokerProcess) async throws -> Void
    ) async throws -> Int {
        let states = try bed.makeDirectory("states")
        let points = try await FaultPoints.make(watching: states, in: bed)
        for step in 1...1_000 {
            // The home is below the watched folder, because it contains the key.
            let (state, home) = ("\(states)/state", ["/usr/bin/env", "HOME=\(states)"])
            try await prepare(state)
            try points.arm(fault, at: step)
            func start(_ wrapper: [String]) async throws -> BrokerProcess {
                try await BrokerProcess.start(in: bed) {
                    ($0.stateDirectory, $0.namesStateDirectory) = (state, namesState)
                    $0.wrapper = wrapper
                }
            }
            let failing = try? await start(points.wrapper + home.dropFirst())
            if let failing {
                try? await operate(failing)
                if isEndedGently { await failing.stop() } else { await failing.kill() }
            }
            let struck = try points.hasStruck
            do {
                if struck, fault == .powerCutLater {
                    let broker = try await start(points.wrapper + home.dropFirst())
                    try await operate(broker)
                    await broker.kill()
                }
                try points.disarm()
                let broker = try await start(home)
                try await check(broker)
                await broker.stop()
            } catch {
                throw ProcessFailure("\(fault) at step \(step): \(error)")
            }
            if !struck { return step - 1 }
            for name in try FileManager.default.contentsOfDirectory(atPath: states) {
                try FileManager.default.removeItem(atPath: "\(states)/\(name)")
            }
        }
        throw ProcessFailure("It does not come to an end.")
    }

    @Test(
        "a first start leaves a usable state, and reported data is stored",
        arguments: FaultPoints.Fault.endings + [.powerCutLater, .failOnce(errno: EIO), .failFrom(errno: ENOSPC)])
    func firstStart(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            var (attempts, told) = (0, [String]())
            func register(_ app: String, with broker: BrokerProcess) async throws {
                try await broker.register(app, clientID: "c", authority: "https://login.example.org/")
            }
            let steps = try await startAtEveryStep(
                fault, in: bed, endingGently: !fault.isEnding || fault == .powerCutLater
            ) { _ in
                (attempts, told) = (0, [])
            } operate: { broker in
                attempts += 1
                try await register("early-\(attempts)", with: broker)
                told.append("early-\(attempts)")
            } check: { broker in
                try await register("late", with: broker)
                let apps = try await broker.call("apps.list")[path: "apps"].arrayValue ?? []
                let names = apps.compactMap { $0["name"].stringValue }
                try #require(Set(names).isSuperset(of: told + ["late"]) && names.count <= attempts + 1, "\(names)")
            }
            #expect(steps > 5)
        }
    }

    @Test(
        "a migration is complete or not begun, and nothing of the earlier vault is lost", .needsRoot,
        arguments: [
            FaultPoints.Fault.kill, .powerCut(afterNames: false), .failOnce(errno: EIO), .failFrom(errno: ENOSPC),
        ])
    func migration(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            let script = try String(contentsOfFile: PackageTree.fixture("vault-format-1.sql"), encoding: .utf8)
            let key = try #require(script.split(separator: "\n").first { $0.hasPrefix("-- key ") }).dropFirst(7)
            let model = try bed.makeDirectory("model") + "/vault.db"
            try #require(try await bed.run(Launch("sqlite3", [model]), input: script).succeeded)
            let steps = try await startAtEveryStep(fault, in: bed) { state in
                try FileManager.default.createDirectory(
                    atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                try FileManager.default.copyItem(atPath: model, toPath: "\(state)/vault.db")
                try Data("token-broker vault key 1\n\(key)\n".utf8).write(to: URL(filePath: "\(state)/vault.key"))
                for name in ["vault.db", "vault.key"] { chmod("\(state)/\(name)", 0o600) }
            } operate: { broker in
                _ = try await broker.call("apps.list")
            } check: { broker in
                let apps = try await broker.call("apps.list")[path: "apps"].arrayValue ?? []
                try #require(apps.map { $0["name"].stringValue } == ["mail", "payroll"], "\(apps)")
                let people = try await broker.call("accounts.list")[path: "accounts"].arrayValue ?? []
                try #require(people.map { $0["username"] } == ["ada@example.org"], "\(people)")
                // Two were damaged before.
                let vault = try await broker.call("broker.status")[path: "vault"]
                try #require(vault["quarantined"] == 2 && vault["missing"] == 0, "\(vault)")
            }
            #expect(steps > 5)
        }
    }

    @Test(
        "a vault of an earlier release is moved completely out of the settings, and never exists twice",
        arguments: FaultPoints.Fault.endings + [.failOnce(errno: EIO), .failFrom(errno: ENOSPC)])
    func move(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            let model = try bed.makeDirectory("model")
            let before = try await BrokerProcess.start(in: bed) { $0.stateDirectory = model }
            try await before.register("early", clientID: "c", authority: "https://login.example.org/")
            await before.kill()
            try #require(FileManager.default.fileExists(atPath: "\(model)/vault.db-wal"))
            var home = ""
            let steps = try await startAtEveryStep(fault, in: bed, namingState: false) { state in
                home = URL(filePath: state).deletingLastPathComponent().path
                try FileManager.default.createDirectory(
                    atPath: "\(home)/.config", withIntermediateDirectories: true)
                try FileManager.default.copyItem(atPath: model, toPath: "\(home)/.config/brokerd")
            } operate: { broker in
                _ = try await broker.call("apps.list")
            } check: { broker in
                let apps = try await broker.call("apps.list")[path: "apps"].arrayValue ?? []
                try #require(apps.map { $0["name"].stringValue } == ["early"], "\(apps)")
                let path = try await broker.call("broker.status")[path: "vault.path"].stringValue
                try #require(path == "\(home)/.local/state/brokerd/vault.db")
                let files = try await bed.require(
                    "find", [home, "-type", "f", "(", "-name", "vault.db", "-o", "-name", "*.key", ")"])
                try #require(files.split(separator: "\n").count == 2, "\(files)")
            }
            #expect(steps > 10)
        }
    }

    @Test(
        "an interrupted export leaves the earlier backup or a complete new one",
        arguments: FaultPoints.Fault.powerCuts + [.kill, .failFrom(errno: EIO), .writeShort])
    func export(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            try await broker.register("notes", clientID: "c", authority: "https://login.example.org/")
            let folder = try bed.makeDirectory("backups")
            let points = try await FaultPoints.make(watching: folder, in: bed)
            let file = URL(filePath: "\(folder)/broker.backup")
            _ = try await broker.ctl(["cache", "export", file.path, "--stdin"], input: Self.passphrase)
            let whole = try Data(contentsOf: file).count
            let arguments = [
                try PackageTree.program("brokerctl"), "--socket", broker.socket, "cache", "export", file.path,
                "--stdin",
                "--force",
            ]
            for step in 1...1_000 {
                try Data("an earlier backup".utf8).write(to: file)
                try points.arm(fault, at: step)
                let result = try await bed.run(
                    Launch(points.wrapper[0], points.wrapper.dropFirst() + arguments), input: Self.passphrase)
                let struck = try points.hasStruck
                try points.disarm()
                let found = try Data(contentsOf: file)
                let isNew = found.count == whole
                #expect(isNew || found == Data("an earlier backup".utf8), "\(fault) at step \(step)")
                #expect(!result.succeeded || isNew, "\(fault) at step \(step)")
                guard struck else {
                    #expect(result.succeeded && step > (fault == .writeShort ? 1 : 3), "\(result)")
                    return
                }
            }
        }
    }

    @Test(
        "an interrupted import has stored all accounts or none, and a repetition completes it",
        arguments: [FaultPoints.Fault.kill, .writeShort])
    func imported(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            var stepped = try await SteppedScene.make(in: bed) { $0.reuseGrace = 600 }
            try await stepped.scene.signIn(.alice)
            try await stepped.scene.signIn(.bob)
            let file = bed.path("broker.backup")
            _ = try await stepped.scene.broker.ctl(["cache", "export", file, "--stdin"], input: Self.passphrase)
            var tokens: Set<Int64> = []
            let steps = try await stepped.failAtEveryStep(fault) { scene in
                for account in try await scene.broker.call("accounts.list")[path: "accounts"].arrayValue ?? [] {
                    _ = try await scene.broker.call("accounts.forget", ["account": ["id": account["id"]]])
                }
            } operate: { scene in
                let result = try await scene.broker.ctl(
                    ["cache", "import", file, "--stdin"], input: Self.passphrase)
                guard result.succeeded else { throw ProcessFailure("\(result)") }
            } check: { scene, outcome in
                let records = try await scene.broker.call("cache.stats")[path: "records"]
                let found = records["refreshTokens"].integerValue ?? -1
                try #require([0, 2].contains(found) && records["accounts"].integerValue == found, "\(records)")
                if outcome.wasReported { try #require(found == 2) }
                tokens.insert(found)
                // Its remains are removed by the next start.
                let state = try FileManager.default.contentsOfDirectory(atPath: scene.broker.stateDirectory)
                try #require(!state.contains { $0.hasPrefix("import-") }, "\(state)")
            }
            #expect(steps > 5 && tokens == [0, 2])
            let again = try await stepped.scene.broker.ctl(
                ["cache", "import", file, "--stdin"], input: Self.passphrase)
            #expect(again.succeeded, "\(again)")
        }
    }
}
