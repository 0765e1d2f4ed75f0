import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("A Flatpak-like sandbox, with the folder of the recipe")
struct FlatpakShapeTests {
    private static let id = "org.example.Notes"

    @Test("it finds the socket at its usual place, is known by its id, and gets the one listing app's token")
    func story() async throws {
        try await withTestBed { bed in
            let runtime = try bed.makeDirectory("runtime")
            let scene = try await DevelopmentScene.make(
                in: bed, options: { $0.wrapper = ["/usr/bin/env", "XDG_RUNTIME_DIR=\(runtime)"] })
            let token = try await scene.signIn().accessToken
            try await scene.register("bank")
            let recipe = try Recipe.block(of: "Apps in a Flatpak", language: "yaml")
            #expect(recipe.contains("- --filesystem=xdg-run/brokerd\n"))
            #expect(
                try await scene.broker.ctl(["apps", "edit", "notes", "--sandbox", "flatpak:\(Self.id)"]).succeeded)
            let asking = """
                from brokerclient import Broker, BrokerError
                print(Broker().acquire_token_silent("notes", ["\(DevelopmentScene.scope)"]).access_token)
                try:
                    Broker().acquire_token_silent("bank", ["\(DevelopmentScene.scope)"])
                except BrokerError as error:
                    print(error.kind)
                """
            let result = try await inside(scene, runtime, ["/usr/bin/python3", "-c", asking])
            #expect(result.output == "\(token)\ngrantRequired\n", "\(result)")
            let audit = try await scene.broker.call("audit.list")[path: "entries"].arrayValue ?? []
            let callers = audit.filter { $0["app"].stringValue == "notes" }.map { $0["caller.id"].stringValue }
            #expect(callers.contains("flatpak:\(Self.id)"), "\(audit)")
        }
    }

    /// Runs it like Flatpak: with a file that names the app, and a record outside that identifies the sandbox. The record
    /// follows the sandbox, whose number is known only then.
    private func inside(_ scene: DevelopmentScene, _ runtime: String, _ words: [String]) async throws -> CommandResult {
        let bed = scene.bed
        let instance = "\(runtime)/.flatpak/4711"
        try FileManager.default.createDirectory(atPath: instance, withIntermediateDirectories: true)
        let info = "[Application]\nname=\(Self.id)\n[Instance]\ninstance-id=4711\n"
        try info.write(toFile: "\(instance)/info", atomically: true, encoding: .utf8)
        let brokers = String(scene.broker.socket.dropLast("/broker.sock".count))
        let python = PackageTree.root.appending(path: "Sources/Python").path
        let bubblewrap = [
            "bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
            "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--ro-bind-data", "9",
            "/.flatpak-info", "--ro-bind", python, "/app", "--setenv", "PYTHONPATH", "/app", "--setenv",
            "XDG_RUNTIME_DIR", "/run/user/1", "--ro-bind", brokers, "/run/user/1/brokerd", "--bind", instance,
            "/run/instance",
        ]
        let record = """
            number=$(readlink /proc/self/ns/mnt | tr -dc 0-9)
            printf '{"child-pid": %s, "mnt-namespace": %s}' $$ "$number" > /run/instance/bwrapinfo.json
            exec "$@"
            """
        return try await bed.run(
            Launch(
                "sh",
                ["-c", "exec 9< '\(instance)/info'; exec \"$@\"", "sh"] + bubblewrap
                    + ["sh", "-c", record, "sh"] + words, environment: ["PYTHONDONTWRITEBYTECODE": "1"]))
    }
}
