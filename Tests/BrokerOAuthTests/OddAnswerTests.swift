import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// Answers with the standard's meaning in another form.
@Suite("Answers in other clothes")
struct OddAnswerTests {
    private static let token: JSONObject = ["access_token": "at", "token_type": "Bearer"]

    @Test("a token with status 201, without a type, or with a list of scopes is accepted")
    func success() async throws {
        try await withProvider { bed async throws in
            for answer in [
                ProviderAnswer.json(.object(Self.token), status: 201),
                .json(["access_token": "at", "scope": ["a", "b"]]),
                .json(["access_token": "at", "token_type": .null]),
            ] {
                let response = try await bed.refresh(answered: answer).get()
                #expect(response.accessToken == Secret("at") && response.tokenType == .bearer)
            }
        }
    }

    @Test("a token without a type is refused if a bound one was requested")
    func untypedBinding() async throws {
        try await withProvider { bed async throws in
            let answer = ProviderAnswer.json(["access_token": "at"])
            let outcome = try await bed.refresh(answered: answer, with: testProofSigner().makeKey())
            guard case .failure(.invalidResponse(status: 200, _)) = outcome else {
                Issue.record("it was accepted")
                return
            }
        }
    }

    @Test(
        "an error is read as an object, from a list, and from a message",
        arguments: [
            #"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"why"}}"#,
            #"{"error":{"code":"INVALID_ARGUMENT","message":"why"}}"#,
            #"[{"error":"INVALID_ARGUMENT","message":"why"}]"#,
            #"{"errors":[{"code":"INVALID_ARGUMENT","description":"why"}]}"#,
            #"{"error":"INVALID_ARGUMENT","message":"why"}"#,
        ])
    func errors(body: String) async throws {
        try await withProvider { bed async throws in
            let answer = ProviderAnswer(
                status: 400, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
            let failure = try await bed.refreshFailure(answer)
            #expect(
                failure == .refused(OAuthRefusal(error: "INVALID_ARGUMENT", description: "why", status: 400)))
        }
    }

    @Test("slow_down in the body of a 429 is recognized, with the pause from the header")
    func slowDown() async throws {
        try await withProvider { bed async throws in
            var answer = ProviderAnswer.json(["error": "slow_down"], status: 429)
            answer.headers.append(("Retry-After", "30"))
            var refusal = OAuthRefusal(error: "slow_down", status: 429)
            refusal.retryAfter = 30
            #expect(try await bed.refreshFailure(answer) == .refused(refusal))
        }
    }

    @Test("an error's text is quoted, truncated and without possible tokens")
    func quoted() async throws {
        try await withProvider { bed async throws in
            let token = String(repeating: "t", count: 40)
            let words = "Closed\n for \(token) today. " + String(repeating: "word ", count: 100)
            for answer in [
                ProviderAnswer.json(["message": .string(words)], status: 403),
                .json(["detail": .string(words)], status: 503),
                .json(.array([["errorCode": "E1", "message": .string(words)]]), status: 400),
            ] {
                let text = "\(String(describing: try await bed.refreshFailure(answer)))"
                #expect(text.contains("It says: Closed for … today. word"))
                #expect(!text.contains(token) && text.count < 600)
            }
        }
    }

    @Test("a request that a server repeats in its error is not disclosed")
    func echo() async throws {
        try await withProvider { bed async throws in
            let token = "rt+1/2=3%4 é"
            let text = "Wrong client for this refresh token: \(token)!"
            bed.provider.on(.token) { _ in
                .json(["error": .string("bad \(token)"), "error_description": .string(text)], status: 400)
            }
            let grant = TokenGrant.refreshToken(Secret(token), scopes: Scopes(["x"]))
            let failure = await bed.failure { try await bed.redeem(grant) }
            guard case .refused(let refusal) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(refusal.error == "bad …")
            #expect(refusal.description == "Wrong client for this refresh token: …!")
        }
    }

    @Test("a missing endpoint is looked up anew and requested again, once a minute at most")
    func endpointMoved() async throws {
        try await withProvider { bed async throws in
            var old = bed.provider.discoveryDocument
            old["token_endpoint"] = .string(bed.provider.issuer + "/gone")
            let document = old
            bed.provider.on(.discovery) { _ in .json(.object(document)) }
            let metadata = try await bed.metadata()
            #expect(metadata.tokenEndpoint.hasSuffix("/gone"))
            bed.provider.on(.token) { _ in .json(.object(Self.token)) }
            func redeem() async throws -> TokenResponse {
                try await bed.oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes(["mail"])), with: TokenRequestExtras(),
                    as: .init(clientID: "app"), at: metadata)
            }
            let unchanged = await bed.failure { try await redeem() }
            #expect(unchanged?.withoutText == .invalidResponse(status: 404, ""))
            let renewed = bed.provider.discoveryDocument
            bed.provider.on(.discovery) { _ in .json(.object(renewed)) }
            #expect(await bed.failure { try await redeem() } != nil, "it was asked a moment ago")
            bed.clock.advance(bySeconds: 61)
            #expect(try await redeem().accessToken == Secret("at"))
            #expect(bed.provider.requests(to: .discovery).count == 3)
        }
    }

    @Test("a missing endpoint of the provider's own host is not replaced by another host's")
    func endpointMovedElsewhere() async throws {
        try await withProvider { bed async throws in
            var document = bed.provider.discoveryDocument
            document["token_endpoint"] = .string(bed.provider.issuer + "/gone")
            let old = document
            bed.provider.on(.discovery) { _ in .json(.object(old)) }
            let metadata = try await bed.metadata()
            let elsewhere = bed.provider.issuer.replacing("127.0.0.1", with: "localhost") + "/token"
            document["token_endpoint"] = .string(elsewhere)
            let renewed = document
            bed.provider.on(.discovery) { _ in .json(.object(renewed)) }
            bed.provider.on(.token) { _ in .json(.object(Self.token)) }
            let failure = await bed.failure {
                try await bed.oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes(["mail"])), with: TokenRequestExtras(),
                    as: .init(clientID: "app"), at: metadata)
            }
            #expect(failure?.withoutText == .invalidResponse(status: 404, ""))
            #expect(try await bed.metadata().tokenEndpoint == elsewhere)
        }
    }

    /// Made by gzip(1), from 4 MiB of spaces and from `{"access_token":"at","token_type":"Bearer"}`.
    private func compressed(_ text: String) throws -> [UInt8] {
        let file = NSTemporaryDirectory() + "answer-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file + ".gz") }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let gzip = Process()
        gzip.executableURL = URL(fileURLWithPath: "/usr/bin/gzip")
        gzip.arguments = [file]
        try gzip.run()
        gzip.waitUntilExit()
        return Array(try Data(contentsOf: URL(fileURLWithPath: file + ".gz")))
    }

    @Test("an unrequested compressed response is read, limited by its decompressed size")
    func gzip() async throws {
        try await withProvider { bed async throws in
            func answer(_ text: String) throws -> ProviderAnswer {
                ProviderAnswer(
                    status: 200, headers: [("Content-Type", "application/json"), ("Content-Encoding", "gzip")],
                    body: try compressed(text))
            }
            let small = try answer(#"{"access_token":"at","token_type":"Bearer"}"#)
            #expect(try await bed.refresh(answered: small).get().accessToken == Secret("at"))
            let bomb = try await bed.refreshFailure(try answer(String(repeating: " ", count: 4 << 20)))
            let (status, text) = try #require(bomb?.violation)
            #expect(status == nil)
            #expect(text.contains("1048576 bytes of answer"))
            #expect(bed.provider.requests(to: .token).allSatisfy { $0.headers["accept-encoding"] == "identity" })
        }
    }
}
