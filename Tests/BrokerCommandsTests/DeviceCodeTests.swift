import BrokerCommands
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("brokerctl login --device-code")
struct DeviceCodeTests {
    private static let login = ["login", "--device-code", "--app", "mail", "--scope", "email"]

    private static func notice(_ correlationID: String, complete: Bool = true) -> String {
        let link = complete ? #""verificationUriComplete":"https://idp.example.org/d?c=WDJB-MJHT","# : ""
        return #"{"interactionId":"i-1","userCode":"WDJB-MJHT","verificationUri":"https://idp.example.org/d",\#(link)"#
            + #""expiresOn":1900000000,"interval":5,"message":"Go there.","correlationId":"\#(correlationID)"}"#
    }

    /// Announces a code, and answers the sign-in when the test finishes it.
    private func broker(_ log: Recorder<String>, person: DispatchSemaphore? = nil) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            log.add("\(request.method) \(request.params)")
            peer.notify("interaction.deviceCode", Self.notice("c-1"))
            if let person {
                person.wait()
                peer.answer(request, ScriptedAnswers.token("AT-1"))
            }
            peer.waitForEnd()
            log.add("left")
        }
    }

    /// Runs the program until it has shown the code, then finishes the sign-in.
    private func signIn(
        _ options: [String], _ log: Recorder<String>, _ check: (ManagedProcess) async throws -> Void
    ) async throws {
        let person = DispatchSemaphore(value: 0)
        let broker = try broker(log, person: person)
        try await withTestBed { bed in
            let process = try bed.start(
                Launch(try PackageTree.program("brokerctl"), ["--socket", broker.path] + Self.login + options),
                as: "brokerctl")
            try await process.waitForText("WDJB-MJHT")
            person.signal()
            #expect(await process.exitStatus() == .exited(0))
            try await check(process)
        }
    }

    @Test("code and address are on separate lines, and a pipe gets no picture")
    func words() async throws {
        let log = Recorder<String>()
        try await signIn(["--timeout", "60"], log) { process in
            let lines = process.outputText.split(separator: "\n")
            #expect(lines.prefix(2) == ["  https://idp.example.org/d", "  WDJB-MJHT"])
            #expect(process.outputText.contains("Signed in: Ada <ada@example.org> at idp.example.org."))
            #expect(!process.errorText.contains("█") && !process.errorText.contains("\u{1B}"))
        }
        #expect(log.all.first?.hasPrefix(#"token.acquireByDeviceCode {"app":"mail","#) == true)
        #expect(log.all.first?.hasSuffix(#""scopes":["email"],"timeout":60}"#) == true)
    }

    @Test("--authority applies to this sign-in, without an account")
    func otherAuthority() async throws {
        let log = Recorder<String>()
        try await signIn(["--authority", "https://idp.example.org/guests"], log) { _ in }
        let params = try #require(log.all.first?.replacing("\\/", with: "/"))
        #expect(params.contains(#""app":"mail","authority":"https://idp.example.org/guests""#))
        #expect(!params.contains("account"))
    }

    @Test("--json prints the notification as a line, then the result")
    func json() async throws {
        try await signIn(["--json"], Recorder<String>()) { process in
            let lines = process.outputText.split(separator: "\n").map(String.init)
            let notice = try #require(lines.first)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(notice.utf8)) as? [String: Any])
            #expect(object["userCode"] as? String == "WDJB-MJHT")
            #expect(object["verificationUriComplete"] as? String == "https://idp.example.org/d?c=WDJB-MJHT")
            #expect(lines.dropFirst().joined() == ScriptedAnswers.token("AT-1"))
            #expect(process.errorText.isEmpty)
        }
    }

    @Test("Ctrl-C disconnects, so the broker ends the sign-in")
    func interrupted() async throws {
        let log = Recorder<String>()
        let broker = try broker(log)
        try await withTestBed { bed in
            let process = try bed.start(
                Launch(try PackageTree.program("brokerctl"), ["--socket", broker.path] + Self.login), as: "brokerctl")
            try await process.waitForText("WDJB-MJHT")
            process.send(SIGINT)
            #expect(await process.exitStatus() == .exited(130))
            try await eventually("the broker sees the client leave") { log.all.last == "left" }
        }
    }

    @Test(
        "browser options are refused together with --device-code",
        arguments: ["--no-browser", "--manual", "--prompt=login", "--instance-aware"])
    func browserOptions(_ option: String) async throws {
        let result = try await brokerctl(Self.login + [option], at: "/nowhere")
        #expect(result.status == .exited(2))
    }

    private static var code: InteractionDeviceCode.Params {
        get throws { try InteractionDeviceCode.Params(reading: try JSONReader.read(Array(notice("c").utf8))) }
    }

    @Test("a decoder reads the address with the code from the terminal's blocks")
    func picture() async throws {
        let lines = Self.picture(try Self.code)
        #expect(Set(lines.map(\.count)).count == 1)
        #expect(Set(lines.joined()).isSubset(of: ["█", "▀", "▄", " "]))
        try await withTestBed { bed in
            let image = bed.path("code.pbm")
            try Data(Self.bitmap(lines).utf8).write(to: URL(filePath: image))
            let result = try await bed.run(Launch("/usr/bin/zbarimg", ["--quiet", "--raw", image]))
            #expect(result.output == "https://idp.example.org/d?c=WDJB-MJHT\n")
        }
    }

    private static func picture(
        _ code: DeviceCodeOpening, columns: Int = 500, rows: Int = 500, isUTF8: Bool = true
    ) -> [String] {
        DeviceCodeScreen(code, on: TerminalSize(columns: columns, rows: rows))
            .picture(isUTF8: isUTF8, setsColours: false)
    }

    /// The blocks as a picture (PBM): a block is light, as on a dark terminal; four pixels per module.
    private static func bitmap(_ lines: [String]) -> String {
        let rows = lines.flatMap { line in
            [
                line.map { $0 == "█" || $0 == "▀" ? "0" : "1" },
                line.map { $0 == "█" || $0 == "▄" ? "0" : "1" },
            ]
        }
        let scaled = rows.flatMap { row in
            Array(repeating: row.flatMap { [String](repeating: $0, count: 4) }.joined(separator: " "), count: 4)
        }
        return "P1\n\((lines.first?.count ?? 0) * 4) \(scaled.count)\n" + scaled.joined(separator: "\n") + "\n"
    }

    @Test("the picture contains the plain address if there is no complete one")
    func plainAddress() throws {
        let code = try InteractionDeviceCode.Params(
            reading: try JSONReader.read(Array(Self.notice("c", complete: false).utf8)))
        let expected = TerminalQRCode(try #require(QRCode("https://idp.example.org/d"))).lines(setsColours: false)
        let lines = Self.picture(code)
        #expect(lines == expected)
    }

    @Test("no picture is shown without a terminal, on a narrow one or one without UTF-8")
    func noPicture() throws {
        let code = try Self.code
        let (width, height) = (37, 19)
        #expect(Self.picture(code).map(\.count) == Array(repeating: width, count: height))
        #expect(DeviceCodeScreen(code, on: nil).picture(isUTF8: true, setsColours: false).isEmpty)
        #expect(Self.picture(code, isUTF8: false).isEmpty)
        // Five lines above it, and one below.
        #expect(Self.picture(code, columns: width, rows: height + 6).count == height)
    }

    @Test("a smaller margin replaces the standard's if necessary, and below it there is no picture")
    func smallPicture() throws {
        let code = try Self.code
        for (columns, rows) in [(36, 100), (100, 24)] {
            let small = Self.picture(code, columns: columns, rows: rows)
            #expect(small.count == 17 && small.first?.count == 33)
        }
        #expect(Self.picture(code, columns: 32, rows: 100).isEmpty)
        #expect(Self.picture(code, columns: 100, rows: 22).isEmpty)
    }

    @Test("a page on a foreign host gives a warning, for which the picture leaves room")
    func otherHost() throws {
        var code = try Self.code
        #expect(DeviceCodeScreen(code, on: nil).warning == nil)
        code.otherHost = "microsoft.example"
        let warning = DeviceCodeScreen(code, on: nil).warning
        #expect(warning?.contains("microsoft.example, not at the provider's own host") == true)
        let rows = (1...40).first { !Self.picture(code, columns: 200, rows: $0).isEmpty } ?? 0
        code.otherHost = nil
        #expect((1...40).first { !Self.picture(code, columns: 200, rows: $0).isEmpty } == rows - 1)
    }

    @Test("the first locale variable that is set decides whether the terminal is UTF-8")
    func locales() {
        #expect(Locale.isUTF8 { ["LANG": "de_DE.UTF-8"][$0] })
        #expect(Locale.isUTF8 { ["LANG": "C", "LC_ALL": "en_US.utf8@euro"][$0] })
        #expect(!Locale.isUTF8 { ["LANG": "de_DE.UTF-8", "LC_ALL": "C"][$0] })
        #expect(!Locale.isUTF8 { _ in nil })
    }

    @Test(
        "the countdown shows minutes and seconds",
        arguments: [(599, "9:59"), (61, "1:01"), (0, "0:00"), (-5, "0:00")] as [(Int64, String)])
    func countdown(seconds: Int64, text: String) {
        #expect(DeviceCodeScreen.waiting(secondsLeft: seconds, columns: nil).contains(" \(text) left"))
    }

    @Test("the countdown never wraps", arguments: 1...80)
    func narrowCountdown(columns: Int) {
        let line = DeviceCodeScreen.waiting(secondsLeft: 599, columns: columns)
        #expect(line.count < columns)
        #expect(columns < 11 || line.contains("9:59 left"))
    }
}
