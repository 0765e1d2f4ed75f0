import BrokerCommands
import BrokerLink
import BrokerRPC
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl config")
struct ConfigurationTests {
    private static let before = """
        # Mine.
        oauth.connect_timeout = 5 # seconds

        [log] # how much
          level = "info"    # "debug" for trouble
        # level = "trace"

        [browser]
        command = ["firefox", "#1"]   # a list
        """

    private func set(_ name: String, _ value: String, in text: String = before) throws -> String {
        try ConfigurationText.setting(name, to: ConfigurationText.literal(value), in: text)
    }

    @Test("set changes one setting and keeps every other line and comment")
    func replaced() throws {
        #expect(
            try set("log.level", "debug")
                == Self.before.replacing(#"level = "info"    #"#, with: #"level = "debug"    #"#) + "\n")
        #expect(
            try set("oauth.connect_timeout", "7")
                == Self.before.replacing("connect_timeout = 5 #", with: "connect_timeout = 7 #") + "\n")
        #expect(
            try set("browser.command", #"["x"]"#)
                == Self.before.replacing(##"["firefox", "#1"]   #"##, with: ##"["x"]   #"##) + "\n")
    }

    @Test("a new setting is added to its table, or to a new table at the end")
    func added() throws {
        #expect(try set("log.other", "x").contains("[log] # how much\nother = \"x\"\n  level"))
        #expect(try set("lock.after_idle", "60").hasSuffix("# a list\n\n[lock]\nafter_idle = 60\n"))
        #expect(try set("lock.after_idle", "60", in: "") == "[lock]\nafter_idle = 60\n")
    }

    @Test("lines that end with a carriage return keep it, and so do new ones")
    func carriageReturns() throws {
        let text = Self.before.replacing("\n", with: "\r\n") + "\r\n"
        #expect(
            try set("log.level", "debug", in: text)
                == text.replacing(#"level = "info"    #"#, with: #"level = "debug"    #"#))
        #expect(try set("log.other", "x", in: text).contains("[log] # how much\r\nother = \"x\"\r\n  level"))
        #expect(try set("lock.after_idle", "60", in: text) == text + "\r\n[lock]\r\nafter_idle = 60\r\n")
    }

    @Test("a string needs no quotes and may contain any character")
    func literals() {
        #expect(ConfigurationText.literal("debug") == #""debug""#)
        #expect(ConfigurationText.literal("a\"b\\c\nd") == #""a\"b\\c\u000ad""#)
        for text in ["true", "60", #"["a"]"#, #""x""#, "'x'"] { #expect(ConfigurationText.literal(text) == text) }
    }

    @Test("a value on several lines is left to an editor")
    func long() {
        let cases = [
            ("browser.command", "[browser]\ncommand = [\n\"a\"]\n"), ("log.level", "[log]\nlevel = \"\"\"\nx\"\"\"\n"),
        ]
        for (name, text) in cases {
            #expect(throws: (any Error).self) { try set(name, "x", in: text) }
        }
    }

    private func config(_ arguments: [String], in bed: TestBed, editor: String = "") async throws -> CommandResult {
        try await bed.run(
            Launch(
                try PackageTree.program("brokerctl"), arguments,
                environment: ["HOME": bed.directory.path, "XDG_CONFIG_HOME": bed.path("config"), "EDITOR": editor]))
    }

    private func file(_ bed: TestBed) throws -> String {
        try String(contentsOfFile: bed.path("config/brokerd/config.toml"), encoding: .utf8)
    }

    @Test("a changed setting is shown with its origin and read by the daemon")
    func setAndShow() async throws {
        try await withTestBed { bed in
            let set = try await config(["config", "set", "log.level", "debug"], in: bed)
            #expect(set.succeeded && set.output.contains("reads it when it starts"), "\(set)")
            #expect(try file(bed) == "[log]\nlevel = \"debug\"\n")
            let shown = try await config(["config", "show", "log"], in: bed)
            #expect(
                shown.lines.contains("log.level  debug  \(bed.path("config/brokerd/config.toml")):2"), "\(shown)")
            let all = try await config(["config", "show"], in: bed)
            #expect(all.lines.contains { $0.hasPrefix("cache.expiry_buffer  ") && $0.hasSuffix("default") }, "\(all)")
            let json = try await config(["--json", "config", "show", "log.level"], in: bed)
            let settings = try #require(json.json["settings"] as? [[String: String]])
            #expect(settings.first?["value"] == "debug" && settings.count == 1)
            #expect(try await config(["config", "get", "log.level"], in: bed).output == "debug\n")
            #expect(try await config(["config", "get", "oauth.ca_file"], in: bed).output.isEmpty)
            for (name, advice) in [
                ("log", "log is a table of settings; brokerctl config show log lists them."),
                ("log.lvl", "There is no setting log.lvl; did you mean log.level? Otherwise, brokerctl config show"),
                ("nothing.like.it", "There is no setting nothing.like.it; brokerctl config show lists"),
            ] {
                let result = try await config(["config", "get", name], in: bed)
                #expect(result.status == .exited(1) && result.errors.contains(advice), "\(result)")
            }
            #expect(try await config(["config", "show", "log", "--names"], in: bed).output == "log.level\nlog.names\n")
        }
    }

    @Test(
        "a setting that the daemon rejects is discarded with the daemon's message",
        arguments: [
            ("log.level", "loud", "level"), ("log.levle", "debug", "log.level"),
            ("cache.expiry_buffer", "-1", "expiry_buffer"),
        ])
    func refused(_ name: String, _ value: String, _ hint: String) async throws {
        try await withTestBed { bed in
            #expect(try await config(["config", "set", "lock.after_idle", "60"], in: bed).succeeded)
            let before = try file(bed)
            let result = try await config(["config", "set", name, "--", value], in: bed)
            #expect(result.status == .exited(1), "\(result)")
            #expect(result.errors.contains(hint) && !result.errors.contains(".new"), "\(result)")
            #expect(try file(bed) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: bed.path("config/brokerd")) == ["config.toml"])
        }
    }

    @Test("set names the other file that takes precedence, and does not take a link for another file")
    func overridden() async throws {
        try await withTestBed { bed in
            let elsewhere = try bed.makeDirectory("elsewhere") + "/settings.toml"
            try "# Mine.\n".write(toFile: elsewhere, atomically: true, encoding: .utf8)
            let folder = bed.path("config/brokerd")
            try FileManager.default.createDirectory(
                atPath: folder + "/config.d", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/config.toml", withDestinationPath: elsewhere)
            let first = try await config(["config", "set", "log.level", "debug"], in: bed)
            #expect(first.succeeded && first.output.contains("reads it when it starts"), "\(first)")

            let stronger = folder + "/config.d/10.toml"
            try "log.level = \"notice\"\n".write(toFile: stronger, atomically: true, encoding: .utf8)
            let second = try await config(["config", "set", "log.level", "info"], in: bed)
            #expect(second.output.contains("\(elsewhere), but \(stronger):1 takes precedence."), "\(second)")
            #expect(!second.output.contains("reads it"), "\(second)")
            let other = try await config(["config", "set", "lock.after_idle", "60"], in: bed)
            #expect(other.succeeded && !other.output.contains("takes precedence"), "\(other)")
        }
    }

    @Test("an edited text is kept only if the daemon accepts it and the editor succeeds")
    func edit() async throws {
        try await withTestBed { bed in
            #expect(try await config(["config", "set", "lock.after_idle", "60"], in: bed).succeeded)
            let good = try await config(["config", "edit"], in: bed, editor: "sed -i s/60/90/")
            #expect(good.succeeded, "\(good)")
            #expect(try file(bed) == "[lock]\nafter_idle = 90\n")
            for editor in ["sed -i s/90/ninety/", "false", "/nowhere/editor"] {
                let bad = try await config(["config", "edit"], in: bed, editor: editor)
                #expect(bad.status == .exited(1) && !bad.errors.isEmpty, "\(bad)")
                #expect(try file(bed) == "[lock]\nafter_idle = 90\n")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: bed.path("config/brokerd")) == ["config.toml"])
        }
    }

    @Test("the files that a broker reports are the files that are read")
    func asked() {
        func words(_ mode: GetBrokerStatus.Mode, _ files: [String], _ candidate: String? = nil) -> [String] {
            var status = GetBrokerStatus.Result()
            status.mode = mode
            status.configuration = .init(files: files, readOn: 0)
            return TargetBroker(status, at: SocketLocation(path: "/x")).check(with: "brokerd", candidate)
        }
        let machine = ["env", "--unset=BROKER_SOCKET", "brokerd", "--check-config", "--system"]
        #expect(words(.system, ["/etc/brokerd/config.toml"]) == machine)
        #expect(words(.system, ["/srv/c.toml"]) == machine + ["--config", "/srv/c.toml"])
        #expect(words(.system, ["/etc/brokerd/config.toml"], "/new") == machine + ["--config", "/new"])
        #expect(words(.user, ["/srv/c.toml"]) == ["brokerd", "--check-config", "--config", "/srv/c.toml"])
        #expect(
            words(.user, ["/home/a/.settings/brokerd/config.toml", "/etc/brokerd/config.toml"])
                == ["env", "XDG_CONFIG_HOME=/home/a/.settings", "brokerd", "--check-config"])
        let absent = TargetBroker(nil, at: SocketLocation(path: "/run/brokerd/broker.sock"))
        #expect(absent.mode == .system && absent.units == .machine)
    }

    @Test("a quoted name may contain the separators of names and values")
    func quotedNames() {
        let place = #"doors.oidc_agent_accounts."a \" = b\\  # /x""#
        let alias = ConfigurationReport(line: "\(place) = grid = 1  # /etc/c.toml:2")
        #expect(alias?.name == place && alias?.value == "grid = 1" && alias?.origin == "/etc/c.toml:2")
        let app = ConfigurationReport(line: ##"app."a = b"  # /etc/apps.d/a.toml:1"##)
        #expect(app?.name == #"app."a = b""# && app?.value == "")
        #expect(ConfigurationReport(line: "log.level = info  # default")?.value == "info")
    }

    @Test("a mistake in a file of apps does not prevent showing or changing settings")
    func brokenApps() async throws {
        try await withTestBed { bed in
            let apps = bed.path("config/brokerd/apps.d")
            try FileManager.default.createDirectory(atPath: apps, withIntermediateDirectories: true)
            try "[mail]\nclient = 1\n".write(toFile: apps + "/mail.toml", atomically: true, encoding: .utf8)
            let set = try await config(["config", "set", "log.level", "debug"], in: bed)
            #expect(set.succeeded, "\(set)")
            let shown = try await config(["config", "show", "log.level"], in: bed)
            #expect(shown.succeeded && shown.output.contains("debug"), "\(shown)")
            #expect(shown.errors.contains("apps.d/mail.toml:2"), "\(shown)")
            #expect(try await config(["config", "get", "log.level"], in: bed).output == "debug\n")
            let broken = try await config(["config", "set", "log.level", "loud"], in: bed)
            #expect(broken.status == .exited(1) && broken.errors.contains("\"loud\""), "\(broken)")
        }
    }

    @Test("a unit names a file only by its whole path after the option")
    func named() {
        let unit = "ExecStart={ path=/usr/bin/brokerd ; argv[]=/usr/bin/brokerd --system --config /srv/c.toml ; pid=0 }"
        #expect(TargetBroker.isNamed("/srv/c.toml", by: unit))
        #expect(TargetBroker.isNamed("/srv/c.toml", by: unit.replacing("--config ", with: "--config=")))
        for other in ["/srv/c.tom", "/srv/c.toml ; pid=0", "/usr/bin/brokerd", "c.toml", ""] {
            #expect(!TargetBroker.isNamed(other, by: unit), "\(other)")
        }
    }

    /// Behind a socket that systemd made for it, a broker may run as an account with fewer rights.
    @Test(
        "root does not write a file only because a broker claims to read it",
        arguments: ["user", "system"], [true, false])
    func nobodysWord(mode: String, isThere: Bool) async throws {
        try await withTestBed { bed in
            let file = bed.path("elsewhere/settings.toml")
            try FileManager.default.createDirectory(
                atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            if isThere { try "# Theirs.\n".write(toFile: file, atomically: true, encoding: .utf8) }
            let status =
                ScriptedAnswers.status.replacing(#""mode":"user""#, with: #""mode":"\#(mode)""#)
                .dropLast() + #","configuration":{"files":["\#(file)"],"readOn":0,"reads":1,"pending":[]}}"#
            let broker = try broker(["broker.status": String(status)])
            for command in [["set", "log.level", "debug"], ["edit"]] {
                let words =
                    Self.asRoot + [try PackageTree.program("brokerctl"), "--socket", broker.path, "config"] + command
                let result = try await bed.run(
                    Launch(
                        words[0], Array(words.dropFirst()),
                        environment: ["HOME": bed.directory.path, "EDITOR": "touch \(bed.path("edited")) &&:"]))
                #expect(result.status == .exited(5) && result.errors.contains("with an editor"), "\(result)")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: bed.path("elsewhere"))
            #expect(left == (isThere ? ["settings.toml"] : []))
            if isThere { #expect(try String(contentsOfFile: file, encoding: .utf8) == "# Theirs.\n") }
            #expect(!FileManager.default.fileExists(atPath: bed.path("edited")))
            broker.stop()
        }
    }

    @Test("a broker with another socket that does not answer has no known settings")
    func nowhere() async throws {
        try await withTestBed { bed in
            for command in [["set", "log.level", "debug"], ["show"], ["get", "log.level"]] {
                let result = try await config(["--socket", bed.path("none"), "config"] + command, in: bed)
                #expect(result.status == .exited(3), "\(result)")
            }
            #expect(!FileManager.default.fileExists(atPath: bed.path("config/brokerd")))
        }
    }

    /// Other users become root in a user namespace.
    private static let asRoot = geteuid() == 0 ? [] : ["unshare", "--map-root-user"]

    @Test("root writes nothing into another user's home")
    func foreignHome() async throws {
        try await withTestBed { bed in
            let program = try PackageTree.program("brokerctl")
            // In a user namespace, / belongs to another user.
            var home = "/"
            let words = Self.asRoot + [program]
            if geteuid() == 0 {
                home = bed.path("home")
                try FileManager.default.createDirectory(
                    atPath: home, withIntermediateDirectories: true, attributes: [.ownerAccountID: 65_534])
            }
            let refused = try await bed.run(
                Launch(
                    words[0], words.dropFirst() + ["config", "set", "log.level", "debug"], environment: ["HOME": home]))
            #expect(refused.status == .exited(1) && refused.errors.contains("you are root"), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: home + "/.config/brokerd"))
        }
    }
}
