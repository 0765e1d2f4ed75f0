import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("Joining a sign-in")
struct JoinedTests {
    @Test("a joining request opens no page and gets the token when the person is done")
    func joined() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.notify("interaction.joined", Self.joining)
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
        let events = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard peer.request() != nil else { return }
            peer.notify("interaction.joined", Self.joining)
            events.add("joined")
            events.add(peer.rest())
        }
        let application = try application(broker)
        let signIn = Task {
            try await application.acquireToken(with: InteractiveTokenParameters(scopes: ["email"]))
        }
        #expect(await events.next() == "joined")
        signIn.cancel()
        let error = await #expect(throws: BrokerClientError.self) { try await signIn.value }
        #expect(error?.code == .canceled)
        // The connection ends without interaction.cancel.
        #expect(await events.next() == "")
    }

    private static let joining = #"{"interactionId":"i-1","expiresOn":1900000000,"correlationId":"c-1"}"#
}
