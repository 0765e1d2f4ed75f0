import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("A stream of tokens")
struct TokenStreamTests {
    private static func token(_ text: String, _ more: String = "") -> String {
        let token = ScriptedAnswers.token(text)
        return "\(token.dropLast())\(more)}"
    }

    @Test("the first token arrives at once, the next as they are issued, and the end throws the reason")
    func stream() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.answer(request, Self.token("at-1", #","watch":"w1""#))
            peer.notify(
                "event.tokenEnded",
                #"{"watch":"w1","error":{"code":-32000,"message":"Sign in.","data":{"kind":"interactionRequired","retryable":false,"reason":"signedOut"}}}"#
            )
        }
        var seen: [String] = []
        do {
            var parameters = SilentTokenParameters(scopes: ["read"])
            parameters.challenge = "Bearer"
            for try await token in try await application(broker).tokens(with: parameters) {
                seen.append(token.accessToken)
            }
        } catch let error as BrokerClientError {
            seen.append("\(error.code.rawValue) \(error.message)")
        }
        #expect(seen == ["at-1", "interactionRequired Sign in."])
    }

    @Test("a slow reader gets the newest token")
    func newest() async throws {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.answer(request, Self.token("at-1", #","watch":"w1""#))
            for number in 2...9 {
                peer.notify("event.tokenChanged", #"{"watch":"w1","token":\#(Self.token("at-\(number)"))}"#)
            }
            peer.notify(
                "event.tokenEnded",
                #"{"watch":"w1","error":{"code":-32000,"message":"Locked.","data":{"kind":"locked","retryable":false}}}"#
            )
            tell.finish()
            _ = peer.request()
        }
        let tokens = try await application(broker).tokens(with: SilentTokenParameters(scopes: ["read"]))
        for await _ in told {}
        var seen: [String] = []
        let end = await #expect(throws: BrokerClientError.self) {
            for try await token in tokens { seen.append(token.accessToken) }
        }
        #expect(end?.code == .locked && seen.last == "at-9")
    }

    @Test("a refusal of the first request is thrown before any token")
    func refused() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.fail(request, "interactionRequired")
        }
        let application = try application(broker)
        let failure = await failure { () async throws(BrokerClientError) in
            try await application.tokens(with: SilentTokenParameters(scopes: ["read"]))
        }
        #expect(failure?.code == .interactionRequired)
    }
}
