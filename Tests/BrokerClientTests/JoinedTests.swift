import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("Joining a sign-in")
struct JoinedTests {
    @Test("who joins opens nothing, and gets the token when the person is done elsewhere")
    func joined() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            peer.notify("interaction.joined", Self.joining(id))
            peer.answer(request, ScriptedAnswers.token("AT-1"))
            peer.waitForEnd()
        }
        let application = try application(broker)
        let web = WebviewParameters { _ in Issue.record("there is nothing to open") }
        let result = try await application.acquireToken(
            with: InteractiveTokenParameters(scopes: ["email"], webviewParameters: web))
        #expect(result.accessToken == "AT-1")
    }

    @Test("a cancelled task that had joined only stops waiting: the window is not its own")
    func cancelled() async throws {
        let methods = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            peer.notify("interaction.joined", Self.joining(id))
            methods.add("joined")
            while let next = peer.request() {
                methods.add(next.method)
                peer.answer(next, #"{"accounts":[]}"#)
            }
        }
        let application = try application(broker)
        let signIn = Task {
            try await application.acquireToken(with: InteractiveTokenParameters(scopes: ["email"]))
        }
        #expect(await methods.next() == "joined")
        signIn.cancel()
        let error = await #expect(throws: BrokerClientError.self) { try await signIn.value }
        #expect(error?.code == .canceled)
        // What comes next on the connection is this, and no interaction.cancel.
        _ = try await application.allAccounts()
        #expect(await methods.next() == "accounts.list")
    }

    private static func joining(_ correlationId: String) -> String {
        #"{"interactionId":"i-1","expiresOn":1900000000,"correlationId":"\#(correlationId)"}"#
    }
}
