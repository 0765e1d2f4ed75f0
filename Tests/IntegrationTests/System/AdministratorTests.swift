import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// What an administrator, and others, do with brokerctl where one broker serves everybody.
@Suite("brokerctl at one broker for many users", .needsRoot) struct AdministratorTests {
    private func ctl(
        _ arguments: String..., at scene: SystemScene, as uid: UInt32 = 0
    ) async throws -> CommandResult {
        let program = try scene.bed.sharedProgram("brokerctl")
        let user = ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "--"]
        return try await scene.bed.run(
            Launch(
                "setpriv", user + [program, "--socket", scene.broker.socket] + arguments,
                environment: ["HOME": scene.bed.path("home")]))
    }

    @Test(
        "settings are the broker's: what root sets is in the file that it reads, and others are told whose that is")
    func settings() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed, configuration: "log.level = \"info\"\n")
            // It is asked how it reads the settings, and has to be beside brokerctl.
            try FileManager.default.linkItem(
                atPath: try bed.sharedProgram("brokerd"), toPath: bed.path("brokerd"))
            let file = try #require(scene.broker.configurationFile)
            let shown = try await ctl("config", "show", "log.level", at: scene)
            #expect(shown.output.contains("\(file):1"), "\(shown)")
            let set = try await ctl("config", "set", "log.level", "debug", at: scene)
            #expect(set.succeeded && set.output.contains(file), "\(set)")
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("debug"))
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o044 } == 0o044, "\(String(describing: mode))")
            #expect(try await ctl("config", "get", "log.level", at: scene).output == "debug\n")
            #expect(!FileManager.default.fileExists(atPath: bed.path("home")))

            let refused = try await ctl("config", "set", "log.level", "info", at: scene, as: 12_001)
            #expect(refused.status == .exited(5) && refused.errors.contains(file), "\(refused)")
            #expect(try await ctl("config", "get", "log.level", at: scene, as: 12_001).output == "debug\n")
        }
    }

    @Test("a program's path, by which nobody is known here, is granted nothing; a unit is")
    func grants() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed)
            let one = try await scene.member(12_001)
            for tier in ["unknown", "systemInstalled"] {
                let caller: JSONValue = ["tier": .string(tier), "id": "/usr/bin/curl"]
                let refused = try await one.ask("grants.approve", ["caller": caller, "app": "notes"])
                #expect(refused[path: "error.data.kind"] == "invalidParameter", "\(refused)")
                #expect(refused.text("error.message").contains("system:NAME.service"))
            }
            let unit: JSONValue = ["tier": "systemInstalled", "id": "system:backup.service"]
            #expect(try await one.ask("grants.approve", ["caller": unit, "app": "notes"])["result"] != nil)
        }
    }
}
