import BrokerCommandLine
import BrokerConfig
import BrokerDaemon
import Foundation
import Testing

@Suite("brokerd's command line")
struct DaemonCommandTests {
    private func read(_ words: [String]) throws(UsageError) -> DaemonCommand {
        let parsed = ParsedArguments(words, by: DaemonCommand.declarations)
        if let mistake = parsed.mistake { throw mistake }
        return try DaemonCommand(parsed)
    }

    private func mistake(_ words: [String]) -> String? {
        do throws(UsageError) {
            _ = try read(words)
            return nil
        } catch {
            return error.message
        }
    }

    @Test("a value follows its option or an equals sign, and the last one counts")
    func values() throws {
        let command = try read([
            "--socket", "/run/a", "--state-dir=/var/b=c", "--system", "--socket=/run/z", "--log-level", "debug",
        ])
        #expect(command.socket == "/run/z" && command.stateDirectory == "/var/b=c")
        #expect(command.logLevel == "debug" && command.isSystemMode)
        #expect(!command.checksConfiguration && command.configuration == nil)
        #expect(try read([]) == DaemonCommand())
    }

    @Test(
        "a mistake is reported with its option or argument",
        arguments: [
            (["--sock"], "There is no option --sock; did you mean --socket?"),
            (["-v"], "There is no option -v; did you mean --version?"),
            (["extra"], "extra is an unexpected argument."), ([""], "An empty argument is unexpected."),
            (["--=1"], "There is no option --."),
            (["--system=1"], "--system takes no value."), (["--socket"], "--socket needs a value."),
            (["--socket", "--system"], "--socket needs a value."),
            (["--socket", "--state-dir=/x"], "--socket needs a value."),
            (["--socket", "-odd"], "--socket needs a value."),
            (["--ca-file", "--allow-http-loopback=x"], "--ca-file needs a value."),
            (["--config="], "--config needs a value."), (["--log-level", ""], "--log-level needs a value."),
        ])
    func mistakes(words: [String], text: String) {
        #expect(mistake(words) == text)
        #expect(mistake(["--system"] + words) == text)
    }

    @Test("a value behind an equals sign may begin with a dash")
    func dashes() throws {
        #expect(try read(["--socket=-odd"]).socket == "-odd")
        #expect(try read(["--socket=--system"]).socket == "--system")
    }

    @Test("an argument that is not UTF-8 is refused, because a repaired one names another file")
    func notText() throws {
        let start = Array("--state-dir=caf".utf8)
        let words = try CommandLineText.words(of: [start + Array("\u{e9}".utf8)])
        #expect(try read(words).stateDirectory == "caf\u{e9}")
        do throws(UsageError) {
            _ = try CommandLineText.words(of: [start + [0xe9]])
            Issue.record("it was taken")
        } catch {
            #expect(error.message == "The argument --state-dir=caf\u{fffd} is not UTF-8.")
        }
    }

    @Test("every path is relative to home after ~/, and otherwise to the working directory")
    func paths() throws {
        func loader(_ path: String, home: String = "/home/ada") throws -> ConfigurationLoader {
            let words = ["--socket", "--oidc-agent-socket", "--state-dir", "--ca-file", "--config"].flatMap {
                [$0, path]
            }
            return try read(words).loader(environment: ["HOME": home])
        }
        for (given, meant) in [
            ("~/x", "/home/ada/x"), ("/x", "/x"), ("x", FileManager.default.currentDirectoryPath + "/x"),
        ] {
            let loader = try loader(given)
            #expect(loader.files == .only(meant))
            #expect(
                loader.flags == [
                    "socket.path": meant, "doors.oidc_agent_socket": meant, "vault.state_dir": meant,
                    "oauth.ca_file": meant,
                ])
        }
        #expect(try loader("~/x", home: "").files == .only("~/x"))
    }

    @Test("off switches a door off and is not taken as a path")
    func off() throws {
        #expect(
            try read(["--oidc-agent-socket", "off"]).loader(environment: [:]).flags
                == ["doors.oidc_agent_socket": "off"])
    }

    @Test("help and version take precedence over all other arguments", arguments: ["--help", "-h", "--version"])
    func help(word: String) throws {
        let parsed = ParsedArguments(["--nonsense", word, "--system=1"], by: DaemonCommand.declarations)
        #expect(parsed.asksHelp || parsed.asksVersion)
    }

    @Test("help lists every option in 80 columns")
    func helpText() {
        let lines = DaemonHelp.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= 80 && $0.last != " " }, "\(DaemonHelp.text)")
        for option in DaemonCommand.declarations + Declaration.standard {
            #expect(lines.contains { $0.hasPrefix("  ") && $0.contains("--\(option.name)") }, "\(option.name)")
        }
    }
}
