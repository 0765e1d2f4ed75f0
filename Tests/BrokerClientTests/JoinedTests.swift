import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("Joining a sign-in")
struct JoinedTests {
    @Test("a joining request opens no page and gets the token when the person is done")
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

    @Test("cancelling a task that joined only stops its wait and leaves the window open")
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
        // This is the next message on the connection, and not interaction.cancel.
        _ = try await application.allAccounts()
        #expect(await methods.next() == "accounts.list")
    }

    private static func joining(_ correlationId: String) -> String {
        #"{"interactionId":"i-1","expiresOn":1900000000,"correlationId":"\#(correlationId)"}"#
    }
}
