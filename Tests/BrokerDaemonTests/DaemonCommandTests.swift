import BrokerDaemon
import Testing

@Suite("The command line of brokerd")
struct DaemonCommandTests {
    private func mistake(_ words: [String]) -> String? {
        do throws(DaemonCommand.UsageError) {
            _ = try DaemonCommand(words)
            return nil
        } catch {
            return error.text
        }
    }

    @Test("an option's value follows it, or an equals sign; the last one counts")
    func values() throws {
        let command = try DaemonCommand([
            "--socket", "/run/a", "--state-dir=/var/b=c", "--system", "--socket=/run/z", "--log-level", "debug",
            "--ca-file=",
        ])
        #expect(command[.socket] == "/run/z" && command[.stateDirectory] == "/var/b=c")
        #expect(command[.logLevel] == "debug" && command[.caFile]?.isEmpty == true && command.has(.system))
        #expect(!command.has(.checkConfiguration) && command[.configuration] == nil)
        #expect(try DaemonCommand([]) == DaemonCommand([]))
    }

    @Test(
        "what is wrong is named",
        arguments: [
            (["--sock"], "There is no option --sock."), (["-v"], "There is no option -v."),
            (["extra"], "There is no argument extra."), ([""], "There is no argument ."),
            (["--"], "There is no option --."), (["--=1"], "There is no option --=1."),
            (["--system=1"], "--system takes no value."), (["--socket"], "--socket needs a value."),
            (["--socket", "--system"], "--socket needs a value."), (["--Socket", "x"], "There is no option --Socket."),
        ])
    func mistakes(words: [String], text: String) {
        #expect(mistake(words) == text)
        #expect(mistake(["--system"] + words) == text)
    }

    @Test("a value may begin with a dash, so long as it is no option's name")
    func dashes() throws {
        #expect(try DaemonCommand(["--socket", "-odd"])[.socket] == "-odd")
        #expect(try DaemonCommand(["--socket=--system"])[.socket] == "--system")
    }

    @Test("who asks for help or the version is told, whatever follows", arguments: ["--help", "-h", "--version"])
    func help(word: String) throws {
        let command = try DaemonCommand(["--system", word, "--nonsense"])
        #expect(command.has(.help) || command.has(.version))
    }

    @Test("help names every option, in 80 columns")
    func helpText() {
        let lines = DaemonHelp.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count < 80 && $0.last != " " }, "\(DaemonHelp.text)")
        for option in DaemonOption.allCases {
            #expect(lines.contains { $0.hasPrefix("  ") && $0.contains(option.word) }, "\(option)")
        }
    }
}
