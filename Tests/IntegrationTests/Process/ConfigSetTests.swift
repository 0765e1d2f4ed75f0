import BrokerTestSupport
import Foundation
import Testing

@Suite("Changing settings with brokerctl")
struct ConfigSetTests {
    /// A home without a broker: settings are changed in its own file.
    private struct Home {
        let bed: TestBed
        let folder: String
        var file: String { "\(folder)/brokerd/config.toml" }

        func set(_ name: String, _ value: String) async throws -> CommandResult {
            let variables = ["HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_RUNTIME_DIR": folder]
            return try await bed.run(
                Launch(
                    try PackageTree.program("brokerctl"), ["config", "set", name, value], environment: variables))
        }

        var text: String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
    }

    @Test("a value with which the broker would not start is refused with the reason, and nothing has changed")
    func useless() async throws {
        try await withTestBed { bed in
            let home = Home(bed: bed, folder: try bed.makeDirectory("home"))
            try #require(try await home.set("log.level", "debug").succeeded)
            let before = home.text
            for (name, value) in [("oauth.ca_file", "/nowhere/ca.pem"), ("log.level", "loud")] {
                let result = try await home.set(name, value)
                #expect(result.status == .exited(1) && result.errors.contains(value), "\(result)")
                #expect(home.text == before)
            }
        }
    }

    @Test("simultaneous changes are all kept")
    func simultaneous() async throws {
        try await withTestBed { bed in
            let home = Home(bed: bed, folder: try bed.makeDirectory("home"))
            let settings = [
                ("log.level", "debug"), ("lock.after_idle", "61"), ("oauth.connect_timeout", "7"),
                ("oauth.request_timeout", "31"), ("cache.expiry_buffer", "62"), ("browser.command", "[\"firefox\"]"),
            ]
            try await withThrowingTaskGroup { group in
                for (name, value) in settings {
                    group.addTask {
                        let result = try await home.set(name, value)
                        #expect(result.succeeded, "\(result)")
                    }
                }
                try await group.waitForAll()
            }
            for (name, value) in settings {
                #expect(home.text.contains("\(name.split(separator: ".")[1]) = "), "\(name) \(value)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home.folder)/brokerd") == ["config.toml"])
        }
    }

    @Test("a mistake in an app file keeps no other setting from being changed")
    func othersMistake() async throws {
        try await withTestBed { bed in
            let home = Home(bed: bed, folder: try bed.makeDirectory("home"))
            let apps = "\(home.folder)/brokerd/apps.d"
            try FileManager.default.createDirectory(atPath: apps, withIntermediateDirectories: true)
            try "[mail]\nclient = 1\n".write(toFile: apps + "/mail.toml", atomically: true, encoding: .utf8)
            let result = try await home.set("log.level", "debug")
            #expect(result.succeeded && home.text.contains(#"level = "debug""#), "\(result)")
        }
    }
}
