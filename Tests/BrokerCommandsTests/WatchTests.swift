import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl watch")
struct WatchTests {
    private static let events = [
        ("event.account", #"{"change":"signedIn","app":"mail","account":\#(ScriptedAnswers.account())}"#),
        (
            "event.token",
            #"{"change":"acquired","app":"mail","accountId":"acc-1","scopes":["mail.read"],"expiresOn":1000000000}"#
        ),
        ("event.token", #"{"change":"refreshTokenRejected","app":"mail","accountId":"acc-9","scopes":[]}"#),
        ("event.token", #"{"change":"refreshTokenRejected","app":"mail","accountId":"acc-1","scopes":[]}"#),
        ("event.interaction", #"{"change":"failed","app":"mail","interactionId":"i","errorKind":"userCanceled"}"#),
        ("event.later", #"{"text":"\u001b[31mred"}"#),
    ]

    private func broker(_ log: Recorder<String> = Recorder()) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add("\(request.method) \(request.params)")
                guard request.method == "broker.subscribe" else {
                    peer.answer(request, #"{"accounts":[\#(ScriptedAnswers.account())]}"#)
                    continue
                }
                peer.answer(request, #"{"subscribed":["account"]}"#)
                for (name, params) in Self.events { peer.notify(name, params) }
                peer.waitUntilRead()
                return
            }
        }
    }

    @Test("each event is a line with time, username and advice, and the broker's end is reported")
    func lines() async throws {
        let broker = try broker()
        let result = try await brokerctl(["watch"], at: broker.path)
        #expect(result.status == .exited(3), "\(result)")
        #expect(result.lines.allSatisfy { $0.contains(#/^[0-9]{2}:[0-9]{2}:[0-9]{2}\ \ /#) }, "\(result)")
        #expect(
            result.lines.map { String($0.dropFirst(10)) } == [
                "mail: ada@example.org signed in at idp.example.org",
                "mail: a new token of ada@example.org for mail.read, expires \(Self.longAgo(result))",
                "mail: the provider ended the sign-in of acc-9; to sign in again: brokerctl login --app mail",
                "mail: the provider ended the sign-in of ada@example.org; to sign in again: brokerctl login --app mail --account ada@example.org",
                "mail: the sign-in ended without success (userCanceled)",
                #"{"method":"event.later","params":{"text":"\u001b[31mred"}}"#,
            ])
        #expect(result.errors.contains("Watching the broker at \(broker.path)"))
        #expect(result.errors.contains("The broker went away"))
    }

    /// The words for a time that recedes with every run.
    private static func longAgo(_ result: CommandResult) -> String {
        result.lines.dropFirst().first.flatMap {
            $0.firstRange(of: "expires ").map { range in
                String(result.lines[1][range.upperBound...])
            }
        } ?? ""
    }

    @Test("--json prints the broker's notifications of the named topics and app")
    func json() async throws {
        let log = Recorder<String>()
        let broker = try broker(log)
        let result = try await brokerctl(
            ["--json", "watch", "--app", "mail", "--topic", "account", "--topic", "token"], at: broker.path)
        #expect(log.all == [#"broker.subscribe {"app":"mail","topics":["account","token"]}"#])
        #expect(result.lines.dropLast().count == Self.events.count)
        let first = try #require(
            JSONSerialization.jsonObject(with: Data((result.lines.first ?? "").utf8)) as? [String: Any])
        #expect(first["method"] as? String == "event.account")
        #expect((first["params"] as? [String: Any])?["app"] as? String == "mail")
    }

    @Test("a watch that ignores SIGPIPE ends at the first event that nobody can read")
    func readerGone() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.answer(request, #"{"subscribed":["account"]}"#)
            let event = Array(#"{"jsonrpc":"2.0","method":"event.later","params":{}}\#n"#.utf8)
            while peer.send(bytes: event[...]) { peer.waitUntilRead() }
        }
        try await withTestBed { bed in
            let program = try PackageTree.program("brokerctl")
            let line = "trap '' PIPE; \(program) watch --json | head -n 1"
            let launch = Launch("/bin/sh", ["-c", line], environment: ["BROKER_SOCKET": broker.path])
            let result = try await bed.run(launch)
            #expect(result.lines.count == 1 && result.output.contains("event.later"), "\(result)")
            #expect(result.errors.contains("Standard output could not be written"), "\(result)")
        }
    }
}
