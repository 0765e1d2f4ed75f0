import BrokerCommandLine
import BrokerTestSupport
import Foundation
import Testing

/// The screen of a real, small terminal.
@Suite("In a terminal")
struct TerminalTests {
    private static let login = ["login", "--app", "mail", "--scope", "email"]

    /// Announces a device code of this issuer, and waits.
    private func broker(issuer: String) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            guard peer.request() != nil else { return }
            peer.notify(
                "interaction.deviceCode",
                #"{"interactionId":"i-1","userCode":"WDJB-MJHT","verificationUri":"\#(issuer)/device","#
                    + #""verificationUriComplete":"\#(issuer)/device?user_code=WDJB-MJHT","expiresOn":4000000000,"#
                    + #""interval":5,"message":"Go there.","correlationId":"c-1"}"#)
            peer.waitForEnd()
        }
    }

    private func start(
        _ arguments: [String], _ columns: Int, _ rows: Int, at broker: ScriptedBroker, in bed: TestBed
    ) async throws -> Terminal {
        try await Terminal.start(
            Launch(try PackageTree.program("brokerctl"), ["--socket", broker.path] + arguments), columns: columns,
            rows: rows, in: bed)
    }

    private static let short = "https://id.example"
    private static let long = "https://login.example.org/realms/" + String(repeating: "department/", count: 12) + "v2.0"

    @Test(
        "code and address stay on the screen during the countdown, with the picture if it fits",
        arguments: [(80, 24), (50, 24), (40, 20)], [short, long])
    func deviceCode(_ size: (columns: Int, rows: Int), issuer: String) async throws {
        let broker = try broker(issuer: issuer)
        try await withTestBed { bed in
            let terminal = try await start(
                Self.login + ["--device-code"], size.columns, size.rows, at: broker, in: bed)
            var clocks: Set<String> = []
            try await eventually("the countdown was drawn three times") {
                let clock = try await terminal.screen().compactMap { $0.firstMatch(of: #/[0-9]+:[0-9][0-9] left/#) }
                    .last
                if let clock { clocks.insert(String(clock.output)) }
                return clocks.count >= 3
            }
            let screen = try await terminal.screen()
            #expect(screen.contains("  \(issuer)/device"), "\(screen.joined(separator: "\n"))")
            #expect(screen.contains("  WDJB-MJHT"), "\(screen.joined(separator: "\n"))")
            #expect(screen.count { $0.contains(" left") } == 1)
            let hasPicture = screen.contains { $0.contains("█") }
            #expect(hasPicture == (issuer == Self.short && size.rows == 24), "\(screen.joined(separator: "\n"))")
            #expect(screen.contains("Or scan this with a phone:") == hasPicture)
            try await terminal.press("C-c")
            #expect(try await terminal.exitStatus() == 130)
        }
    }

    /// Reports one more connection for each request.
    ///
    /// - Parameter isShort: whether it disconnects after each request.
    private func counting(hangingUp isShort: Bool = false) throws -> ScriptedBroker {
        let asked = Recorder<String>()
        return try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "broker.metrics" {
                    peer.answer(request, MetricsCommandTests.metrics)
                    if isShort { return }
                } else {
                    asked.add("")
                    peer.answer(
                        request,
                        ScriptedAnswers.status.replacing(
                            #/"connections":[0-9]+/#, with: "\"connections\":\(100 + asked.all.count)"))
                }
            }
        }
    }

    @Test(
        "the live status redraws within the terminal, and Ctrl-C restores the screen",
        arguments: [(80, 24), (40, 20), (30, 6)])
    func watch(_ size: (columns: Int, rows: Int)) async throws {
        let broker = try counting()
        try await withTestBed { bed in
            let terminal = try await start(["status", "--watch"], size.columns, size.rows, at: broker, in: bed)
            var seen: Set<String> = []
            try await eventually("it was drawn three times") {
                seen.formUnion(try await terminal.screen().filter { $0.hasPrefix("Connections  1") })
                return seen.count >= 3
            }
            let screen = try await terminal.screen()
            let text = screen.joined(separator: "\n")
            #expect(
                screen.count { $0.hasPrefix("Connections") } == 1 && screen.first?.hasPrefix("Time ") == true, "\(text)"
            )
            #expect(screen.allSatisfy { $0.count < size.columns }, "\(text)")
            #expect(text.contains("10, 1 failed") && (size.rows < 20 || text.contains("8 of 9 tokens")), "\(text)")
            try await terminal.press("C-c")
            #expect(try await terminal.exitStatus() == 130)
            #expect(try await terminal.screen().allSatisfy { !$0.contains("Connections") })
        }
    }

    @Test("the live status continues while the broker is away and says so")
    func watchThroughRestart() async throws {
        let broker = try counting(hangingUp: true)
        try await withTestBed { bed in
            let terminal = try await start(["status", "--watch"], 80, 24, at: broker, in: bed)
            try await terminal.wait(for: "Connections  1")
            try FileManager.default.moveItem(atPath: broker.path, toPath: broker.path + ".away")
            try await terminal.wait(for: "the broker does not answer")
            try await terminal.wait(for: "8 of 9 tokens")
            try FileManager.default.moveItem(atPath: broker.path + ".away", toPath: broker.path)
            try await eventually("it is seen again") {
                try await terminal.screen().allSatisfy { !$0.contains("does not answer") }
            }
            try await terminal.press("C-c")
            #expect(try await terminal.exitStatus() == 130)
        }
    }

    @Test("without a terminal, the live status is a line of text or JSON per second")
    func watchInPipe() async throws {
        let broker = try counting()
        try await withTestBed { bed in
            for arguments in [["status", "--watch"], ["status", "--watch", "--json"]] {
                let process = try bed.start(
                    Launch(try PackageTree.program("brokerctl"), ["--socket", broker.path] + arguments), as: "watch")
                try await eventually("three lines") { process.outputText.split(separator: "\n").count >= 3 }
                let lines = process.outputText.split(separator: "\n").prefix(3)
                let isJSON = arguments.contains("--json")
                #expect(lines.allSatisfy { isJSON == $0.hasPrefix("{") && !$0.contains("\u{1B}") }, "\(lines)")
                #expect(Set(lines).count == 3)
                process.send(SIGINT)
                #expect(await process.exitStatus() == .exited(130))
            }
        }
    }

    @Test("a wait for an answer is reported once")
    func waiting() async throws {
        let isSeen = Gate()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                // On another connection, brokerctl also checks that the broker is alive. It would give up on a silent one before this
                // test has read the screen.
                guard request.method == "accounts.list" else {
                    peer.answer(request, ScriptedAnswers.status)
                    continue
                }
                isSeen.block()
                peer.answer(request, #"{"accounts":[]}"#)
            }
        }
        try await withTestBed { bed in
            let terminal = try await start(["accounts", "list"], 80, 24, at: broker, in: bed)
            try await terminal.wait(for: "Still waiting for the broker's answer (Ctrl-C gives up).")
            isSeen.open()
            try await terminal.wait(for: "Nobody is signed in.")
            // After a program ends, tmux scrolls its output up by one line.
            let screen = try await terminal.history()
            #expect(screen.count { $0.contains("Still waiting") } == 1, "\(screen)")
        }
    }

    /// Accepts a redirect of any length, and answers the sign-in.
    private func pasting(_ log: Recorder<String>) throws -> ScriptedBroker {
        let signIns = Recorder<(peer: ScriptedPeer, request: ScriptedRequest)>()
        return try ScriptedBroker { peer in
            while let request = peer.request() {
                switch request.method {
                case "token.acquireInteractive":
                    signIns.add((peer, request))
                    peer.notify("interaction.open", ScriptedAnswers.opening(correlationId: "c-1"))
                case "interaction.complete":
                    log.add(request.string("url") ?? "")
                    peer.answer(request, #"{"accepted":true}"#)
                    for signIn in signIns.all { signIn.peer.answer(signIn.request, ScriptedAnswers.token()) }
                default: peer.answer(request, #"{"cancelled":true}"#)
                }
            }
        }
    }

    @Test("a pasted redirect of any length is read whole, and typing mistakes can be erased")
    func paste() async throws {
        let log = Recorder<String>()
        let broker = try pasting(log)
        let redirect = "http://127.0.0.1:4000/?code=" + String(repeating: "0123456789abcdef", count: 1000) + "&state=s"
        try await withTestBed { bed in
            let terminal = try await start(Self.login + ["--manual"], 80, 24, at: broker, in: bed)
            try await terminal.wait(for: "paste it here")
            try await terminal.paste("wrong")
            try await terminal.press("C-u")
            try await terminal.paste(redirect + "x")
            try await terminal.press("BSpace", "Enter")
            try await terminal.wait(for: "Signed in: Ada")
            #expect(try await terminal.exitStatus() == 0)
        }
        #expect(log.all == [redirect])
    }

    @Test("Ctrl-D ends the input and restores the terminal")
    func endOfInput() async throws {
        let broker = try pasting(Recorder<String>())
        try await withTestBed { bed in
            let brokerctl = try PackageTree.program("brokerctl")
            let script =
                "stty -g; \"$0\" --socket '\(broker.path)' \(Self.login.joined(separator: " ")) --manual; stty -g; echo done; exec sleep 100"
            let terminal = try await Terminal.start(
                Launch("/bin/sh", ["-c", script, brokerctl]), columns: 120, rows: 24, in: bed)
            try await terminal.wait(for: "paste it here")
            try await terminal.press("C-d")
            try await terminal.wait(for: "Standard input ended")
            try await terminal.wait(for: "done")
            let modes = try await terminal.screen().filter { $0.count { $0 == ":" } > 20 }
            #expect(modes.count == 2 && modes.first == modes.last, "\(modes)")
        }
    }
}
