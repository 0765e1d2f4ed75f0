import BrokerClient
import BrokerTestSupport
import Testing

@Suite("Extra parameters of an app from the client library")
struct ExtraParameterTests {
    private static let notice =
        #""userCode":"WDJB-MJHT","verificationUri":"https://idp.example.org/d","expiresOn":1900000000,"interval":5,"#
        + #""message":"Go there.","interactionId":"i-1""#

    private static func broker() throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            while let request = peer.request() {
                switch request.method {
                case "accounts.list": peer.answer(request, #"{"accounts":[\#(ScriptedAnswers.account())]}"#)
                case "accounts.signOut":
                    let stages = #"{"local":"done","wipe":"skipped","revocation":"skipped","browser":"done"}"#
                    peer.answer(request, #"{"stages":\#(stages)}"#)
                default:
                    if request.method == "token.acquireByDeviceCode" {
                        let id = request.string("correlationId") ?? ""
                        peer.notify("interaction.deviceCode", #"{\#(notice),"correlationId":"\#(id)"}"#)
                    }
                    peer.answer(request, ScriptedAnswers.token())
                }
            }
        }
    }

    @Test("silent requests, device codes and sign-outs send extra parameters to the broker")
    func carried() async throws {
        let broker = try Self.broker()
        defer { broker.stop() }
        let application = try application(broker)
        var silent = SilentTokenParameters(scopes: ["email"])
        silent.extraQueryParameters = ["slice": "a"]
        _ = try await application.acquireTokenSilent(with: silent)
        var device = DeviceCodeParameters(scopes: ["email"])
        device.extraQueryParameters = ["slice": "b"]
        _ = try await application.acquireTokenWithDeviceCode(with: device) { _ in }
        let account = try #require(try await application.allAccounts().first)
        var signOut = SignoutParameters()
        signOut.signoutFromBrowser = true
        signOut.extraQueryParameters = ["slice": "c"]
        _ = try await application.signOut(with: account, parameters: signOut)
        let requests = broker.requests.filter { $0.method != "accounts.list" }
        #expect(requests.count == 3)
        for (method, value) in [
            ("token.acquireSilent", "a"), ("token.acquireByDeviceCode", "b"), ("accounts.signOut", "c"),
        ] {
            #expect(
                requests.contains {
                    $0.method == method && $0.params.contains(#""extraQueryParameters":{"slice":"\#(value)"}"#)
                }, "\(requests)")
        }
    }
}
