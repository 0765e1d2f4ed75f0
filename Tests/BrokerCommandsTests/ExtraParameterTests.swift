import BrokerTestSupport
import Testing

@Suite("brokerctl --query beyond the browser's page")
struct ExtraParameterTests {
    @Test(
        "token, login --device-code and logout send it to the broker",
        arguments: [
            (["token", "--app", "mail", "--scope", "email"], "token.acquireSilent"),
            (["login", "--device-code", "--app", "mail", "--scope", "email"], "token.acquireByDeviceCode"),
            (["logout", "--app", "mail", "--browser"], "accounts.signOut"),
        ])
    func carried(words: [String], method: String) async throws {
        let stages = #"{"local":"done","wipe":"skipped","revocation":"skipped","browser":"skipped"}"#
        let broker = try ScriptedBroker.answering {
            switch $0.method {
            case "accounts.list": #"{"accounts":[\#(ScriptedAnswers.account())]}"#
            case "accounts.signOut": #"{"stages":\#(stages)}"#
            default: ScriptedAnswers.token()
            }
        }
        let result = try await brokerctl(words + ["--query", "slice=a=b"], at: broker.path)
        #expect(result.status == .exited(0), "\(result)")
        let request = try #require(broker.requests.last { $0.method != "accounts.list" })
        #expect(request.method == method, "\(request)")
        #expect(request.params.contains(#""extraQueryParameters":{"slice":"a=b"}"#), "\(request)")
    }
}
