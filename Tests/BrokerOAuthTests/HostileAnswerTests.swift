import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Hostile answers")
struct HostileAnswerTests {
    private static let size = 300_000

    @Test("a large discovery document is either read or refused", arguments: HostileJSON.all)
    func discovery(kind: HostileJSON) async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { _ in .json(text: kind.text(ofBytes: Self.size)) }
            #expect(await bed.failure { try await bed.metadata() }?.isInvalidResponse == true)
            bed.provider.behave(at: .discovery)
            #expect(try await bed.metadata().issuer == bed.provider.issuer)
        }
    }

    @Test(
        "an unused member does not invalidate a valid document if it can be parsed",
        arguments: HostileJSON.all)
    func besides(kind: HostileJSON) async throws {
        try await withProvider { bed async throws in
            let text = bed.provider.discoveryDocument.json.dropLast() + Array(",\(kind.member(ofBytes: 20_000))}".utf8)
            let isReadable = JSONObject(json: text) != nil
            bed.provider.on(.discovery) { _ in .json(text: Array(text)) }
            #expect((await bed.failure { try await bed.metadata() } == nil) == isReadable)
        }
    }

    @Test("a token response and an ID token of any kind are either read or refused", arguments: HostileJSON.all)
    func tokens(kind: HostileJSON) async throws {
        try await withProvider { bed async throws in
            let metadata = try await bed.metadata()
            let grant = TokenGrant.refreshToken(Secret("rt"), scopes: Scopes(parameter: "api"))
            bed.provider.on(.token) { _ in
                .json(
                    text: Array(
                        "{\"access_token\":\"at\",\"token_type\":\"mac\",\(kind.member(ofBytes: Self.size))}".utf8))
            }
            let failure = await bed.failure {
                try await bed.oauth.redeem(grant, with: .init(), as: .init(clientID: "app"), at: metadata)
            }
            #expect(failure?.withoutText == .invalidResponse(status: 200, ""))
            let payload = Array("{\(kind.member(ofBytes: 40_000))}".utf8)
            let token = bed.provider.identity.sign(payload: .init(payload))
            #expect(await bed.failure { try await bed.verify(token) }?.isInvalidResponse == true)
        }
    }

    @Test("an error for invalid JSON gives its position")
    func saysWhere() async throws {
        try await withProvider { bed async throws in
            let nested = String(repeating: "[", count: 100)
            for (text, problem) in [
                (#"{"issuer":"x",}"#, "an unexpected character, at byte 14"),
                (nested, "too many levels of nesting, at byte 64"),
                ("[]", "another value than an object, at byte 0"),
            ] {
                bed.provider.on(.discovery) { _ in .json(text: Array(text.utf8)) }
                let (status, message) = try #require(await bed.failure { try await bed.metadata() }?.violation)
                #expect(status == 200)
                #expect(message.contains("JSON that cannot be read: \(problem)."))
            }
        }
    }
}
