import BrokerTestSupport
import Testing

@Suite("brokerctl --query beyond the browser's page")
struct ExtraParameterTests {
    private static func broker(_ log: Recorder<String>) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            while let request = peer.request() {
                switch request.method {
                case "accounts.list": peer.answer(request, #"{"accounts":[\#(ScriptedAnswers.account())]}"#)
                case "accounts.signOut":
                    log.add("\(request.method) \(request.params)")
                    let stages = #"{"local":"done","wipe":"skipped","revocation":"skipped","browser":"skipped"}"#
                    peer.answer(request, #"{"stages":\#(stages)}"#)
                default:
                    log.add("\(request.method) \(request.params)")
                    peer.answer(request, ScriptedAnswers.token())
                }
            }
        }
    }

    @Test(
        "token, login --device-code and logout send it to the broker",
        arguments: [
            (["token", "--app", "mail", "--scope", "email"], "token.acquireSilent"),
            (["login", "--device-code", "--app", "mail", "--scope", "email"], "token.acquireByDeviceCode"),
            (["logout", "--app", "mail", "--browser"], "accounts.signOut"),
        ])
    func carried(words: [String], method: String) async throws {
        let log = Recorder<String>()
        let broker = try Self.broker(log)
        let result = try await brokerctl(words + ["--query", "slice=a=b"], at: broker.path)
        #expect(result.status == .exited(0), "\(result)")
        let request = try #require(log.all.last)
        #expect(request.hasPrefix(method + " "), "\(request)")
        #expect(request.contains(#""extraQueryParameters":{"slice":"a=b"}"#), "\(request)")
    }
}
