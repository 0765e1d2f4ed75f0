import BrokerHost
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Start of the browser")
struct BrowserLauncherTests {
    private static let url = "https://login.example/authorize?state=a&nonce=(touch%20x);'b'"

    @Test("the address arrives as one argument, whatever a shell would make of it")
    func literalAddress() async throws {
        try await withTestBed { bed in
            let browser = try script("browser", "printf '%s\\n' \"$@\" > \(bed.path("got"))", in: bed)
            try await launcher("\(browser) --new-window %s").open(Self.url)
            #expect(try String(contentsOfFile: bed.path("got"), encoding: .utf8) == "--new-window\n\(Self.url)\n")
        }
    }

    @Test("a configured command is the only one, its words are literal, and %u is the address")
    func configured() async throws {
        let commands = BrowserCommand.candidates(
            configured: ["/opt/my browser", "--at=%u", "$HOME"], environment: ["BROWSER": "other"])
        #expect(commands.map(\.program) == ["/opt/my browser"])
        #expect(commands.first?.commandLine(for: "https://a/%20").dropFirst() == ["--at=https://a/%20", "$HOME"])
        #expect(BrowserCommand.candidates(environment: ["BROWSER": "other"]).map(\.program) == ["other"])
    }

    @Test("the browser does not get the service manager's variables of this process")
    func environment() async throws {
        try await withTestBed { bed in
            let browser = try script("browser", "env > \(bed.path("got"))", in: bed)
            try await launcher(browser).open(Self.url)
            let got = try String(contentsOfFile: bed.path("got"), encoding: .utf8)
            #expect(got.contains("PATH=") && !got.contains("NOTIFY_SOCKET=") && !got.contains("INVOCATION_ID="))
        }
    }

    @Test("a browser that fails is followed by the next")
    func nextOne() async throws {
        try await withTestBed { bed in
            let failing = try script("failing", "exit 3", in: bed)
            let working = try script("working", "echo \"$1\" > \(bed.path("got"))", in: bed)
            try await launcher("\(bed.path("missing")):\(failing):\(working)").open(Self.url)
            #expect(try String(contentsOfFile: bed.path("got"), encoding: .utf8) == "\(Self.url)\n")
        }
    }

    @Test("a browser that keeps running is assumed to show the page, and lives on")
    func staying() async throws {
        try await withTestBed { bed in
            let browser = try script("browser", "echo $$ > \(bed.path("pid")); exec sleep 300", in: bed)
            let clock = ManualClock()
            let launcher = launcher(browser, clock: clock)
            let opening = Task { try await launcher.open(Self.url) }
            try await eventually("the browser runs") {
                (try? String(contentsOfFile: bed.path("pid"), encoding: .utf8))?.hasSuffix("\n") ?? false
                    && clock.sleepers == 1
            }
            clock.advance(bySeconds: 3)
            try await opening.value
            let text = try String(contentsOfFile: bed.path("pid"), encoding: .utf8)
            let pid = try #require(pid_t(text.dropLast()))
            #expect(kill(pid, SIGTERM) == 0)
        }
    }

    @Test("a page that is no longer wanted is not opened in the next browser")
    func canceled() async throws {
        try await withTestBed { bed in
            let first = try script("first", "echo $$ > \(bed.path("pid")); exec sleep 300", in: bed)
            let next = try script("next", "touch \(bed.path("got"))", in: bed)
            let launcher = launcher("\(first):\(next)", clock: ManualClock())
            let opening = Task { try await launcher.open(Self.url) }
            try await eventually("the browser runs") {
                (try? String(contentsOfFile: bed.path("pid"), encoding: .utf8))?.hasSuffix("\n") ?? false
            }
            opening.cancel()
            let error = await #expect(throws: BrowserError.self) { try await opening.value }
            #expect(error?.message == "The page is no longer wanted.")
            #expect(!FileManager.default.fileExists(atPath: bed.path("got")))
            let pid = try #require(pid_t(String(contentsOfFile: bed.path("pid"), encoding: .utf8).dropLast()))
            #expect(kill(pid, SIGTERM) == 0)
        }
    }

    @Test("if none can be started the error says what to do, and does not show the address")
    func none() async throws {
        try await withTestBed { bed in
            let error = await #expect(throws: BrowserError.self) {
                try await launcher("\(bed.path("missing")) %s").open(Self.url)
            }
            let message = try #require(error).message
            #expect(message.contains("set BROWSER") && !message.contains("login.example"))
        }
    }

    @Test(
        "a string that is not a web address does not reach a command line",
        arguments: [
            "file:///etc/passwd", "--version", "javascript:alert(1)", "https://a b", "http://x\n", "https://\\\\x",
        ])
    func otherAddresses(url: String) async {
        await #expect(throws: BrowserError.self) { try await launcher("/bin/true").open(url) }
    }

    @Test("inside a service the user's manager starts the browser, with a description that hides the address")
    func insideAService() {
        let commands = BrowserCommand.candidates(environment: ["INVOCATION_ID": "0123", "BROWSER": "firefox --tab"])
        let words = commands.first?.commandLine(for: Self.url) ?? []
        #expect(words.first == "systemd-run" && words.suffix(3) == ["firefox", "--tab", Self.url])
        #expect(words.contains("--user") && words.contains { $0.hasPrefix("--description=") })
    }

    @Test("no program on the way to the browser finds a variable in the address")
    func variables() throws {
        let command = BrowserCommand(program: "browser")
        let url = "https://login.example/$HOME/?a=${HOME}"
        #expect(command.commandLine(for: url) == ["browser", "https://login.example/%24HOME/?a=%24%7BHOME%7D"])
    }

    @Test("the words of $BROWSER may be quoted, and %% is a percent sign")
    func quoted() {
        let commands = BrowserCommand.candidates(environment: ["BROWSER": "'/opt/my browser' \"a b\" 5%%:open 'quote"])
        #expect(commands == [BrowserCommand(program: "/opt/my browser", words: ["a b", "5%%"])])
        #expect(commands.first?.commandLine(for: "https://a") == ["/opt/my browser", "a b", "5%", "https://a"])
    }

    @Test("on a session bus the portal comes first, after the person's own choice only")
    func portal() {
        let bus = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus", "INVOCATION_ID": "0123"]
        let commands = BrowserCommand.candidates(environment: bus)
        let starters = commands.map { $0.commandLine(for: Self.url).first }
        #expect(commands.map(\.program) == ["busctl", "xdg-open"] && starters == ["busctl", "systemd-run"])
        #expect(commands[0].commandLine(for: Self.url).suffix(3) == ["", Self.url, "0"])
        #expect(
            BrowserCommand.candidates(environment: bus.merging(["BROWSER": "firefox"]) { $1 }).map(\.program)
                == ["firefox"])
    }

    @Test("xdg-open is used if the person chose no browser")
    func fallback() {
        #expect(BrowserCommand.candidates(environment: [:]).map(\.program) == ["xdg-open"])
        #expect(BrowserCommand.candidates(environment: ["BROWSER": ""]).map(\.program) == ["xdg-open"])
    }

    private func launcher(_ browser: String, clock: any BrokerClock = ManualClock()) -> BrowserLauncher {
        BrowserLauncher(environment: ["BROWSER": browser], clock: clock, logger: .silent)
    }

    private func script(_ name: String, _ body: String, in bed: TestBed) throws -> String {
        let path = bed.path(name)
        try Data("#!/bin/sh\n\(body)\n".utf8).write(to: URL(filePath: path))
        #expect(chmod(path, 0o700) == 0)
        return path
    }
}
