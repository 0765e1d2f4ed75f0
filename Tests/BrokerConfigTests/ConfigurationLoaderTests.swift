import BrokerConfig
import BrokerTestSupport
import Foundation
import Testing

@Suite("ConfigurationLoader")
struct ConfigurationLoaderTests {
    @Test("the defaults apply without files, variables and flags")
    func defaults() throws {
        let loaded = try ConfigurationLoader(files: .standard(["/nowhere/a.toml", "/nowhere/b.toml"])).load()
        #expect(loaded.configuration == BrokerConfiguration())
        #expect(loaded.origins.isEmpty)
    }

    /// Simulates a setting that was renamed twice.
    private func loader(_ path: String) -> ConfigurationLoader {
        var loader = ConfigurationLoader(files: .standard([path]))
        for index in loader.settings.indices where loader.settings[index].name == "log.level" {
            loader.settings[index].formerNames = ["log.verbosity", "daemon.log"]
        }
        return loader
    }

    @Test("a setting under a former name takes effect, with a remark that gives the new name")
    func formerName() async throws {
        try await withTestBed { bed in
            for name in ["log.verbosity", "daemon.log"] {
                let path = try file("config.toml", "\n\(name) = \"debug\"\n", in: bed)
                let configuration = try loader(path).load().configuration
                #expect(configuration.log.level == "debug")
                #expect(
                    configuration.remarks == [
                        "\(path):2: \(name) is called log.level now; it still counts, but write the new name."
                    ])
            }
        }
    }

    @Test("a former name is ignored if the file also has the new name, in any order")
    func formerNameBeside() async throws {
        try await withTestBed { bed in
            let (old, new) = ("log.verbosity = \"debug\"\n", "log.level = \"error\"\n")
            for text in [old + new, new + old] {
                let configuration = try loader(file("config.toml", text, in: bed)).load().configuration
                #expect(configuration.log.level == "error")
                #expect(configuration.remarks.first?.contains("ignored, because both are set") == true)
            }
        }
    }

    @Test("a system broker names the settings without effect")
    func personalSettings() async throws {
        try await withTestBed { bed in
            let path = try file(
                "config.toml",
                """
                access.ask_in_browser = true
                lock.on_screen_lock = true
                lock.on_suspend = false
                log.level = "debug"
                [sandbox.sync]
                engine = "systemd"

                """, in: bed)
            for isSystemMode in [true, false] {
                let loader = ConfigurationLoader(files: .standard([path]), isSystemMode: isSystemMode)
                let remarks = try loader.load().configuration.remarks
                let expected = [(2, "lock.on_screen_lock"), (1, "access.ask_in_browser"), (6, "sandbox.sync")].map {
                    "\(path):\($0): \($1) has no effect with --system: it is for a person's own broker."
                }
                #expect(remarks == (isSystemMode ? expected : []))
            }
        }
    }

    @Test("a reload keeps the remarks on former names and refuses unknown names")
    func formerNamesLater() async throws {
        try await withTestBed { bed in
            let path = try file("config.toml", "daemon.log = \"debug\"\n", in: bed)
            let next = Setting.reloading(BrokerConfiguration(), from: try loader(path).load().configuration)
            #expect(next.log.level == "debug" && next.remarks.count == 1)
            #expect(throws: ConfigurationError.self) {
                try ConfigurationLoader(files: .standard([path])).load()
            }
        }
    }

    @Test("every setting can be set in a file")
    func everySetting() async throws {
        let loaded = try await load(
            """
            [socket]
            path = "/run/x.sock"
            max_connections = 7
            max_requests_per_connection = 8
            idle_line_timeout = 9
            [doors]
            oidc_agent_socket = "~/agent.sock"
            [vault]
            state_dir = "~/vault"
            key_source = ["key-file"]
            key_dir = "/keys"
            quota = 16
            passphrase_command = ["pass", "show", "broker"]
            [lock]
            after_idle = 600
            on_suspend = true
            on_screen_lock = true
            [oauth]
            allow_http_loopback = true
            ca_file = "/etc/ca.pem"
            connect_timeout = 11
            request_timeout = 12
            [access]
            allow_ad_hoc_clients = false
            allow_private_authorities = false
            ask_in_browser = false
            sandboxed = "deny"
            confined = "allow"
            system_installed = "ask"
            unknown = "deny"
            [admin]
            proof = "setgid"
            [cache]
            expiry_buffer = 13
            refresh_share = 14
            extended_lifetime = true
            [interaction]
            max_open = 15
            max_open_each = 5
            allow_redirects_of_other_users = true
            form_post = true
            [browser]
            command = ["firefox", "--private-window", "%u"]
            [device]
            mode = "shared"
            [log]
            level = "debug"
            names = "hashed"
            """)
        var expected = BrokerConfiguration()
        expected.socket.path = "/run/x.sock"
        expected.socket.maxConnections = 7
        expected.socket.maxRequestsPerConnection = 8
        expected.socket.idleLineTimeout = 9
        expected.doors.oidcAgentSocket = "/home/ada/agent.sock"
        expected.vault.stateDirectory = "/home/ada/vault"
        expected.vault.keyDirectory = "/keys"
        expected.vault.quota = 16
        expected.vault.passphraseCommand = ["pass", "show", "broker"]
        expected.vault.keySources = ["key-file"]
        expected.lock.afterIdle = 600
        expected.lock.onSuspend = true
        expected.lock.onScreenLock = true
        expected.oauth.allowHTTPLoopback = true
        expected.oauth.caFile = "/etc/ca.pem"
        expected.oauth.connectTimeout = 11
        expected.oauth.requestTimeout = 12
        expected.access.allowAdHocClients = false
        expected.interaction.maxOpen = 15
        expected.interaction.maxOpenEach = 5
        expected.interaction.allowRedirectsOfOtherUsers = true
        expected.interaction.formPost = true
        expected.access.allowPrivateAuthorities = false
        expected.access.askInBrowser = false
        expected.access.sandboxed = "deny"
        expected.access.confined = "allow"
        expected.access.systemInstalled = "ask"
        expected.access.unknown = "deny"
        expected.admin.proof = "setgid"
        expected.cache.expiryBuffer = 13
        expected.cache.refreshShare = 14
        expected.cache.extendedLifetime = true
        expected.browser.command = ["firefox", "--private-window", "%u"]
        expected.device.mode = "shared"
        expected.log.level = "debug"
        expected.log.names = "hashed"
        #expect(loaded.configuration == expected)
        #expect(Set(loaded.origins.keys) == Set(Setting.all.map(\.name)))
    }

    @Test(
        "browser = … sets browser.command and splits a string like $BROWSER, without a shell",
        arguments: [
            ("browser = \"firefox --private-window %u\"", ["firefox", "--private-window", "%u"]),
            ("browser = \"/opt/my-browser\"", ["/opt/my-browser"]),
            ("browser = [\"a b\", \"$HOME;\"]", ["a b", "$HOME;"]), ("browser = \"sh -c 'x y'\"", ["sh", "-c", "x y"]),
            ("browser = \"'/opt/My Browser/run' %u\"", ["/opt/My Browser/run", "%u"]),
            (#"browser = '"/opt/My Browser/run" a\ b $HOME; *'"#, ["/opt/My Browser/run", "a b", "$HOME;", "*"]),
        ])
    func shortBrowser(text: String, words: [String]) async throws {
        #expect(try await load(text).configuration.browser.command == words)
    }

    @Test("flags override variables, then the user's file, the machine's file and the defaults")
    func precedence() async throws {
        try await withTestBed { bed in
            let person = try file("person.toml", "[log]\nlevel = \"error\"\n[cache]\nexpiry_buffer = 1\n", in: bed)
            let machine = try file(
                "machine.toml",
                "[log]\nlevel = \"trace\"\n[cache]\nexpiry_buffer = 2\n[oauth]\nconnect_timeout = 3\n", in: bed)
            var loader = ConfigurationLoader(files: .standard([person, machine]))
            let files = try loader.load()
            #expect(files.configuration.log.level == "error")
            #expect(files.configuration.cache.expiryBuffer == 1)
            #expect(files.configuration.oauth.connectTimeout == 3)
            #expect(files.origins["log.level"] == .file(path: person, line: 2))
            #expect(files.origins["oauth.connect_timeout"] == .file(path: machine, line: 6))

            loader.environment = ["BROKER_LOG_LEVEL": "warning"]
            #expect(try loader.load().configuration.log.level == "warning")
            loader.flags = ["log.level": "critical", "cache.expiry_buffer": "5"]
            let all = try loader.load()
            #expect(all.configuration.log.level == "critical")
            #expect(all.configuration.cache.expiryBuffer == 5)
            #expect(all.origins["log.level"] == .flag("--log-level"))
        }
    }

    @Test("config.d overrides its file in order of name, and the user's own file overrides both")
    func dropIns() async throws {
        try await withTestBed { bed in
            for folder in ["machine/config.d", "person"] {
                try FileManager.default.createDirectory(atPath: bed.path(folder), withIntermediateDirectories: true)
            }
            let person = try file("person/config.toml", "[oauth]\nconnect_timeout = 1\n", in: bed)
            let machine = try file("machine/config.toml", "[cache]\nexpiry_buffer = 2\n", in: bed)
            let first = try file("machine/config.d/10-first.toml", "[cache]\nexpiry_buffer = 3\n", in: bed)
            let second = try file(
                "machine/config.d/20-second.toml",
                "cache.expiry_buffer = 4\noauth.connect_timeout = 5\noauth.request_timeout = 6\n", in: bed)
            _ = try file("machine/config.d/30-old.toml.disabled", "no setting", in: bed)
            let loader = ConfigurationLoader(files: .standard([person, machine]))
            let loaded = try loader.load()
            #expect(loaded.configuration.cache.expiryBuffer == 4 && loaded.configuration.oauth.requestTimeout == 6)
            #expect(loaded.configuration.oauth.connectTimeout == 1)
            #expect(loaded.origins["cache.expiry_buffer"] == .file(path: second, line: 1))

            try FileManager.default.removeItem(atPath: second)
            #expect(try loader.load().origins["cache.expiry_buffer"] == .file(path: first, line: 2))
            // A named file is the only one read.
            #expect(try ConfigurationLoader(files: .only(machine)).load().configuration.cache.expiryBuffer == 2)
            #expect(chmod(first, 0o666) == 0)
            #expect(throws: ConfigurationError.self) { try loader.load() }
        }
    }

    @Test("a file named on the command line replaces the others and must exist")
    func onlyFile() async throws {
        try await withTestBed { bed in
            let path = try file("only.toml", "[log]\nlevel = \"debug\"\n", in: bed)
            #expect(try ConfigurationLoader(files: .only(path)).load().configuration.log.level == "debug")
            let error = #expect(throws: ConfigurationError.self) {
                try ConfigurationLoader(files: .only(bed.path("missing"))).load()
            }
            #expect(error?.code == .unreadable)
        }
    }

    @Test("an empty variable counts as unset")
    func emptyVariable() throws {
        let loader = ConfigurationLoader(environment: ["BROKER_LOG_LEVEL": ""], files: .standard([]))
        #expect(try loader.load().origins.isEmpty)
    }

    @Test("a broker for many users refuses ad hoc clients unless configured otherwise")
    func systemMode() throws {
        #expect(try ConfigurationLoader(files: .standard([])).load().configuration.access.allowAdHocClients)
        let system = ConfigurationLoader(files: .standard([]), isSystemMode: true)
        #expect(try !system.load().configuration.access.allowAdHocClients)
        #expect(try system.load().configuration.socket.maxConnections == 2_048)
    }

    @Test("the report shows each setting with its origin")
    func report() async throws {
        let report = try await load("[cache]\nexpiry_buffer = 20\n").report
        #expect(report.contains("cache.expiry_buffer = 20  # ") && report.contains("config.toml:2"))
        #expect(report.contains("socket.max_connections = 256  # default"))
        #expect(report.contains("oauth.ca_file = (not set)  # default"))
    }
}

func file(_ name: String, _ text: String, in bed: TestBed) throws -> String {
    let path = bed.path(name)
    try Data(text.utf8).write(to: URL(filePath: path))
    #expect(chmod(path, 0o600) == 0)
    return path
}

/// The text as the only file, for a user whose home is /home/ada.
func load(_ text: String) async throws -> LoadedConfiguration {
    try await withTestBed { bed in
        let path = try file("config.toml", text, in: bed)
        return try ConfigurationLoader(environment: ["HOME": "/home/ada"], files: .standard([path])).load()
    }
}
