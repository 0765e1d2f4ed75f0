import BrokerConfig
import BrokerTestSupport
import Foundation
import Testing

@Suite("Configuration errors")
struct ConfigurationErrorTests {
    struct Case: Sendable {
        var text: String
        var code: ConfigurationError.Code
        var line: Int?
        var says: String
    }

    @Test(
        "an error gives the setting, the line and the correction",
        arguments: [
            Case(
                text: "[socket]\n\n  max_conections = 3\n", code: .unknownKey, line: 3,
                says: "no setting socket.max_conections; did you mean socket.max_connections?"),
            Case(text: "[nonsense]\nx = 1\n", code: .unknownKey, line: 2, says: "no setting nonsense.x"),
            Case(text: "level = \"debug\"\n", code: .unknownKey, line: 1, says: "no setting level"),
            Case(text: "socket.max_connections = 0\n", code: .outOfRange, line: 1, says: "not between 1 and 10000"),
            Case(
                text: "# [x]\n[oauth] # provider\n\"connect_timeout\" = 301\n", code: .outOfRange, line: 3,
                says: "oauth.connect_timeout: 301 is not between 1 and 300 seconds"),
            Case(
                text: "[oauth]\nconnect_timeout = \"ten\"\n", code: .wrongType, line: 2,
                says: "expects an integer, not a string"),
            Case(
                text: "[oauth]\nconnect_timeout = 1.5\n", code: .wrongType, line: 2,
                says: "not a number with a fraction"),
            Case(
                text: "[oauth]\nallow_http_loopback = 1\n", code: .wrongType, line: 2,
                says: "expects a boolean, not an integer"),
            Case(
                text: "# one\noauth = { connect_timeout = 301 }\n", code: .outOfRange, line: 2,
                says: "not between 1 and 300"),
            Case(
                text: "[browser]\ncommand = [\"\"\"\n[log]\nlevel = 1\n\"\"\"]\n[log]\nlevel = 1\n", code: .wrongType,
                line: 7, says: "expects a string"),
            Case(text: "[browser]\ncommand = \"firefox\"\n", code: .wrongType, line: 2, says: "not a string"),
            Case(text: "[browser]\ncommand = [\"a\", 1]\n", code: .wrongType, line: 2, says: "not an array"),
            Case(text: "browser = \" \"\n", code: .outOfRange, line: 1, says: "names no program"),
            Case(
                text: "\nbrowser = \"'/opt/My Browser/run %u\"\n", code: .outOfRange, line: 2,
                says: "browser: a quote or a backslash is left open"),
            Case(text: "browser = 7\n", code: .wrongType, line: 1, says: "not an integer"),
            Case(text: "[browser]\ncommand = []\n", code: .outOfRange, line: 2, says: "names no program"),
            Case(text: "[log]\nlevel = [\"debug\"]\n", code: .wrongType, line: 2, says: "not an array"),
            Case(text: "[log]\nlevel = 1979-05-27\n", code: .wrongType, line: 2, says: "not a date"),
            Case(
                text: "[log]\nlevel = \"loud\"\n", code: .outOfRange, line: 2,
                says: "\"loud\" is not one of trace, debug, info, notice, warning, error, critical"),
            Case(text: "log = \"debug\"\n", code: .unknownKey, line: 1, says: "no setting log"),
            Case(
                text: "[vault]\nstate_dir = \"var\"\n", code: .outOfRange, line: 2, says: "is not an absolute path"),
            Case(text: "[vault]\nkey_source = \"tpm\"\n", code: .outOfRange, line: 2, says: "not one of key-file"),
            Case(text: "[socket]\npath = \n", code: .syntax, line: 2, says: "not valid TOML"),
            Case(
                text: "[log]\n" + String(repeating: "a.", count: 300_000) + "a = 1\n", code: .syntax, line: 2,
                says: "nested too deeply"),
            Case(text: "[log]\nlevel = \"info\"\nlevel = \"debug\"\n", code: .syntax, line: 3, says: "not valid TOML"),
            Case(
                text: "[log]\nlevel = \"info\"\n\u{0}[oauth]\nallow_http_loopback = true\n", code: .syntax, line: 3,
                says: "saw '\\u0000'"),
        ])
    func refused(_ example: Case) async throws {
        let error = try #require(
            await #expect(throws: ConfigurationError.self) { try await load(example.text) })
        #expect(error.code == example.code)
        #expect(error.message.contains(example.says), "\(error)")
        guard case .file(let path, let line) = error.origin else {
            Issue.record("no file in \(error)")
            return
        }
        #expect(path.hasSuffix("/config.toml"))
        #expect(line == example.line)
    }

    @Test("the loader accepts only the key sources that it was given")
    func keySources() throws {
        var loader = ConfigurationLoader(flags: ["vault.key_source": "tpm"], files: .standard([]))
        #expect(throws: ConfigurationError.self) { try loader.load() }
        loader.keySources = ["key-file", "tpm"]
        #expect(try loader.load().configuration.vault.keySources == ["tpm"])
        loader.flags = ["vault.key_source": "tmp"]
        do { _ = try loader.load() } catch { #expect("\(error)".hasSuffix("\"tmp\" is not one of key-file, tpm")) }
    }

    @Test("an error in a flag or a variable gives its name")
    func flagsAndVariables() {
        let flag = ConfigurationLoader(flags: ["log.level": "loud"], files: .standard([]))
        #expect(throws: ConfigurationError.self) { try flag.load() }
        do { _ = try flag.load() } catch { #expect("\(error)".hasPrefix("--log-level: log.level: \"loud\"")) }
        let variable = ConfigurationLoader(environment: ["BROKER_SOCKET": "relative.sock"], files: .standard([]))
        #expect(throws: ConfigurationError.self) { try variable.load() }
        do { _ = try variable.load() } catch { #expect("\(error)".hasPrefix("$BROKER_SOCKET: socket.path:")) }
        let unknown = ConfigurationLoader(flags: ["log.levle": "info"], files: .standard([]))
        do { _ = try unknown.load() } catch { #expect(error.code == .unknownKey && "\(error)".contains("log.level?")) }
        let number = ConfigurationLoader(flags: ["cache.expiry_buffer": "many"], files: .standard([]))
        do { _ = try number.load() } catch { #expect(error.code == .wrongType) }
    }

    @Test("a file that others can write is refused", arguments: [0o602, 0o666])
    func writableByOthers(mode: mode_t) async throws {
        try await withTestBed { bed in
            let path = try file("config.toml", "", in: bed)
            #expect(chmod(path, mode) == 0)
            let error = #expect(throws: ConfigurationError.self) {
                try ConfigurationLoader(files: .standard([path])).load()
            }
            #expect(error?.code == .unsafeFile)
            #expect(error?.message.contains("chmod go-w") == true)
        }
    }

    @Test(
        "a file of another user is refused",
        .enabled(if: Prerequisite.root.shouldRun, "needs root, to give a file away"))
    func foreignFile() async throws {
        try await withTestBed { bed in
            try Prerequisite.root.require()
            let path = try file("config.toml", "", in: bed)
            #expect(chown(path, 12345, 12345) == 0)
            let error = #expect(throws: ConfigurationError.self) {
                try ConfigurationLoader(files: .standard([path])).load()
            }
            #expect(error?.code == .unsafeFile)
        }
    }

    @Test("an unreadable config.d does not count as empty", arguments: [true, false])
    func unreadableFolder(isFile: Bool) async throws {
        try await withTestBed { bed in
            let folder = bed.path("config.d")
            if isFile { _ = try file("config.d", "", in: bed) } else { #expect(symlink(folder, folder) == 0) }
            let error = #expect(throws: ConfigurationError.self) {
                try ConfigurationLoader(files: .standard([bed.path("config.toml")])).load()
            }
            #expect(error?.code == .unreadable)
            let reason = isFile ? "Not a directory" : "Too many levels of symbolic links"
            #expect(error?.description == "\(folder): cannot be read: \(reason)")
        }
    }

    @Test("a path below a regular file counts as missing")
    func belowFile() async throws {
        try await withTestBed { bed in
            let below = try file("file", "", in: bed) + "/config.toml"
            #expect(try ConfigurationLoader(files: .standard([below])).load().origins.isEmpty)
        }
    }

    @Test("a *.toml file in config.d whose name is not UTF-8 is an error, other such files are ignored")
    func oddName() async throws {
        try await withTestBed { bed in
            let folder = bed.path("config.d")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let loader = ConfigurationLoader(files: .standard([bed.path("config.toml")]))
            try makeFile(named: [0xe9] + Array(".toml.old".utf8), in: folder)
            #expect(try loader.load().origins.isEmpty)
            try makeFile(named: Array("20-".utf8) + [0xe9] + Array(".toml".utf8), in: folder)
            let error = #expect(throws: ConfigurationError.self) { try loader.load() }
            #expect(error?.code == .unreadable)
            #expect(error?.description == "\(folder)/20-\u{fffd}.toml: its name is not UTF-8")
        }
    }

    @Test("a file that would crash the library's parser is refused")
    func unbearable() async throws {
        try await withTestBed { bed in
            for (name, text) in [("a", "[[[["), ("b", "[[\n"), ("c", "[a]\n[[[b]]]\n")] {
                let path = try file("\(name).toml", text, in: bed)
                let error = #expect(throws: ConfigurationError.self) {
                    try ConfigurationLoader(files: .standard([path])).load()
                }
                #expect(error?.code == .syntax, "\(text)")
            }
        }
    }

    @Test("irregular, non-UTF-8 and endless files are refused without waiting")
    func oddFiles() async throws {
        try await withTestBed { bed in
            let pipe = bed.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let latin = bed.path("latin.toml")
            try Data([0x23, 0xe9, 0x0a]).write(to: URL(filePath: latin))
            let large = try file("large.toml", String(repeating: "#\n", count: 600_000), in: bed)
            for (path, code) in [
                (pipe, ConfigurationError.Code.unreadable), (bed.directory.path, .unreadable), (latin, .syntax),
                (large, .unreadable),
            ] {
                let error = #expect(throws: ConfigurationError.self) {
                    try ConfigurationLoader(files: .standard([path])).load()
                }
                #expect(error?.code == code, "\(path)")
            }
        }
    }
}

/// Foundation does not support names that are not UTF-8.
func makeFile(named name: [UInt8], in folder: String) throws {
    let path = (Array((folder + "/").utf8) + name + [0]).map { CChar(bitPattern: $0) }
    let descriptor = creat(path, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
}
