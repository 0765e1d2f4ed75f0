import BrokerTestSupport
import Testing

/// A broker of another user, which refuses root's operations.
@Suite("brokerctl commands reserved for root")
struct RefusalTests {
    @Test(
        "a refused user learns of the refusal before any prompt",
        arguments: [
            (["key", "set-source", "passphrase"], "keys.status"), (["unlock"], "broker.unlock"),
            (["cache", "import", "/dev/null"], "cache.stats"), (["cache", "export", "/tmp/never-made"], "cache.stats"),
            (["partitions", "remove", "1004"], "partitions.list"),
        ])
    func refused(arguments: [String], method: String) async throws {
        let status = ScriptedAnswers.status.replacing(#""locked":false"#, with: #""locked":true"#)
            .replacing(#""keySource":"keyfile""#, with: #""keySource":"passphrase""#)
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "broker.status" {
                    peer.answer(request, status)
                } else {
                    peer.fail(request, "accessDenied", message: "Only root may do this.")
                }
            }
        }
        // There is no terminal: without the refusal, the error would say so.
        let result = try await brokerctl(arguments, at: broker.path)
        #expect(result.status == .exited(5) && result.errors.contains("Only root may do this."), "\(result)")
        #expect(broker.requests.map(\.method).filter { $0 != "broker.status" } == [method])
    }
}
