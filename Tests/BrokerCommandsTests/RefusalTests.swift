import BrokerTestSupport
import Testing

/// A broker of somebody else's: what is root's is refused.
@Suite("brokerctl, where only root may")
struct RefusalTests {
    @Test(
        "who may not do it is told before anybody asks them for something",
        arguments: [
            (["key", "set-source", "passphrase"], "keys.status"), (["unlock"], "broker.unlock"),
            (["cache", "import", "/dev/null"], "cache.stats"), (["cache", "export", "/tmp/never-made"], "cache.stats"),
            (["partitions", "remove", "1004"], "partitions.list"),
        ])
    func refused(arguments: [String], method: String) async throws {
        let log = Recorder<String>()
        let status = ScriptedAnswers.status.replacing(#""locked":false"#, with: #""locked":true"#)
            .replacing(#""keySource":"keyfile""#, with: #""keySource":"passphrase""#)
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add(request.method)
                if request.method == "broker.status" {
                    peer.answer(request, status)
                } else {
                    peer.fail(request, "accessDenied", message: "Only root may do this.")
                }
            }
        }
        // Nobody could be asked here: without the refusal that would be what is told.
        let result = try await brokerctl(arguments, at: broker.path)
        #expect(result.status == .exited(5) && result.errors.contains("Only root may do this."), "\(result)")
        #expect(log.all.filter { $0 != "broker.status" } == [method])
    }
}
