import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Changes of the vault's keys that end at any of their steps") struct KeyStepTests {
    private static let apps = 12

    private func fill(_ broker: BrokerProcess) async throws {
        for number in 0..<Self.apps {
            try await broker.register(
                "app-\(number)", clientID: "c", authority: "https://login.example.org/",
                ["clientSecret": .string("secret-\(number)")])
        }
    }

    /// Reading the registrations opens every secret.
    private func requireWhole(_ scene: DevelopmentScene) async throws {
        let (broker, count) = (scene.broker, try await scene.broker.call("apps.list")["apps"]?.arrayValue?.count)
        try #require(count == Self.apps + 1)
        try await eventually("the records are sealed with one key") {
            try await broker.call("keys.status")["resealing"] == false
        }
        try #require(try await scene.silent()[path: "fromCache"] == true)
        try #require(try await scene.silent(["forceRefresh": true])[path: "persisted"] == true)
        let status = try await broker.call("broker.status")
        try #require(status[path: "vault.quarantined"] == 0 && status[path: "vault.missing"] == 0, "\(status)")
    }

    static let faults = [
        FaultPoints.Fault.kill, .powerCut(afterNames: false), .failOnce(errno: EIO), .failFrom(errno: ENOSPC),
        .writeShort,
    ]

    @Test(
        "after new data keys all records open, sealed with either one, and a reported change holds",
        arguments: faults)
    func rotation(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            var stepped = try await SteppedScene.make(in: bed) { $0.reuseGrace = 600 }
            try await stepped.scene.signIn()
            try await fill(stepped.scene.broker)
            func wrappedKeys(_ scene: DevelopmentScene) async throws -> String {
                let query = "SELECT group_concat(hex(wrapped)) FROM partition_key ORDER BY partition"
                return try await bed.query(query, ofVaultIn: scene.broker.stateDirectory)
            }
            var before = ""
            let steps = try await stepped.failAtEveryStep(fault) { scene in
                before = try await wrappedKeys(scene)
            } operate: { scene in
                let connection = try await scene.broker.connect()
                _ = try await connection.call("keys.rotate")
                // Resealing after the answer is part of it.
                if fault.isEnding {
                    try await eventually("the records are sealed anew") {
                        try await connection.call("keys.status")["resealing"] == false
                    }
                }
                await connection.close()
            } check: { scene, outcome in
                try await requireWhole(scene)
                if outcome.wasReported { try #require(try await wrappedKeys(scene) != before) }
            }
            #expect(steps > 5)
        }
    }

    @Test(
        "after a change of the key's source one of the two opens the vault, and a reported change holds",
        arguments: faults + [.powerCutLater])
    func source(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("credentials")
            try Data(repeating: 7, count: 32).write(to: URL(filePath: "\(folder)/vault-key"))
            var stepped = try await SteppedScene.make(
                in: bed, environment: ["CREDENTIALS_DIRECTORY": folder]
            ) { $0.reuseGrace = 600 }
            try await stepped.scene.signIn()
            try await fill(stepped.scene.broker)
            for (old, new) in [("key-file", "credential"), ("credential", "key-file")] {
                func source(_ scene: DevelopmentScene) async throws -> String {
                    try await scene.broker.call("keys.status").text("source")
                }
                // The log is tidied after the answer, while the former key is discarded.
                try await stepped.failAtEveryStep(fault, endingGently: fault.isEnding) { scene in
                    if try await source(scene) != old {
                        _ = try await scene.broker.call("keys.setSource", ["source": .string(old)])
                    }
                } operate: { scene in
                    _ = try await scene.broker.call("keys.setSource", ["source": .string(new)])
                } check: { scene, outcome in
                    let found = try await source(scene)
                    try #require(found == new || !outcome.wasReported && found == old, "\(found)")
                    try await requireWhole(scene)
                }
            }
        }
    }
}
