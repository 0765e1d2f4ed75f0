import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("ID token claims")
struct IDTokenClaimTests {
    @Test(
        "wrong claims are refused",
        arguments: [
            ["iss": "https://evil.example"], ["iss": .null], ["iss": ["a", "b"]],
            ["sub": .null], ["sub": ""], ["sub": 5],
            ["aud": .null], ["aud": "other"], ["aud": []], ["aud": ["other"]],
            ["aud": ["app", "other"], "azp": "other"], ["azp": "other"], ["azp": 5],
            ["nonce": .null], ["nonce": "n-2"], ["nonce": ""],
            ["exp": .null], ["exp": "soon"], ["exp": 0], ["iat": "x"], ["nbf": "x"],
            ["exp": "1800000600"], ["iat": .null], ["iat": "1800000000"], ["iat": true], ["nbf": "1800000000"],
        ] as [JSONObject])
    func refused(changes: JSONObject) async throws {
        try await withProvider { bed async throws in
            let failure = await bed.failure { try await bed.verify(changing: changes) }
            #expect(failure?.withoutText == .invalidResponse(status: nil, ""))
        }
    }

    @Test(
        "claims that providers send in practice are accepted",
        arguments: [
            ["aud": ["app"]], ["aud": ["app"], "azp": "app"], ["aud": ["app", "other"], "azp": "app"],
            ["aud": ["app", "app"]], ["azp": "app"], ["aud": ["app", "other"]],
            ["aud": ["app", "other"], "azp": .null],
            ["auth_time": 0], ["auth_time": 1.75], ["auth_time": "never"],
            ["exp": 1_800_000_600.9], ["sub": "ünï"],
        ] as [JSONObject])
    func accepted(changes: JSONObject) async throws {
        try await withProvider { bed async throws in
            let claims = try await bed.verify(changing: changes)
            #expect(claims.issuer == ExactText(bed.provider.issuer))
            if let sent = changes["auth_time"] { #expect(claims.all["auth_time"] == sent) }
        }
    }

    /// The Kelvin sign is canonically equivalent to K, which Swift's strings treat as equal.
    @Test(
        "text that only looks like the client, the nonce or an earlier one differs (RFC 7519, section 2)",
        arguments: [
            ["aud": "\u{212A}"], ["aud": ["\u{212A}"]], ["aud": "K", "azp": "\u{212A}"], ["nonce": "\u{212A}"],
        ] as [JSONObject])
    func lookAlike(changes: JSONObject) async throws {
        try await withProvider { bed async throws in
            let good = bed.goodClaims.merging(["aud": "K", "nonce": "K"]) { $1 }
            let expectation = IDTokenExpectation(clientID: "K", nonce: "K")
            func verify(_ claims: JSONObject) async throws -> IDTokenClaims {
                let token = Secret(bed.provider.identity.sign(claims))
                return try await bed.oauth.verify(idToken: token, against: expectation, at: bed.metadata())
            }
            #expect(try await verify(good).subject == "alice")
            #expect(await bed.failure { try await verify(good.merging(changes) { $1 }) }?.isInvalidResponse == true)
        }
    }

    @Test("clocks may differ by at most five minutes")
    func clockSkew() async throws {
        try await withProvider { bed async throws in
            let now = bed.clock.now
            for (changes, isGood) in [
                (["exp": .integer(now - 299)], true), (["exp": .integer(now - 300)], false),
                (["iat": .integer(now + 300)], true), (["iat": .integer(now + 301)], false),
                (["nbf": .integer(now + 300)], true), (["nbf": .integer(now + 301)], false),
                (["exp": .integer(.max)], true), (["exp": .integer(.min)], false),
            ] as [(JSONObject, Bool)] {
                let failure = await bed.failure { try await bed.verify(changing: changes) }
                #expect((failure == nil) == isGood, "\(changes)")
            }
        }
    }

    @Test("an error names both issuers, and a wrong clock does not lead to a new sign-in")
    func said() async throws {
        try await withProvider { bed async throws in
            func text(_ changes: JSONObject) async -> String {
                guard
                    case .invalidResponse(_, let text) = await bed.failure({ try await bed.verify(changing: changes) })
                else { return "" }
                return text
            }
            let renamed = await text(["iss": "https://id.example/new"])
            #expect(renamed.contains("https://id.example/new, and \(bed.provider.issuer) was asked"), "\(renamed)")
            for claim in [("exp", -3_600), ("iat", 3_600)] as [(String, Int64)] {
                let said = await text([claim.0: .integer(bed.clock.now + claim.1)])
                #expect(said.contains("this machine's clock") && !said.lowercased().contains("sign in"), "\(said)")
            }
            #expect(await text(["sub": .null]).contains("Sign in again"))
        }
    }

    @Test("a refresh expects no nonce")
    func refresh() async throws {
        try await withProvider { bed async throws in
            let claims = try await bed.verify(changing: ["nonce": .null], nonce: nil)
            #expect(claims.subject == "alice")
            let failure = await bed.failure {
                try await bed.verify(changing: ["nonce": .null, "iat": .null], nonce: nil)
            }
            #expect(failure?.isInvalidResponse == true, "a refresh requires the time of issue, too")
        }
    }

    @Test(
        "a nonce on refresh must be that of the first sign-in, if it is known",
        arguments: [
            ("n-1", "n-1", true), (nil, "n-1", true), ("n-2", "n-1", false), (5, "n-1", false), ("n-2", nil, true),
            (nil, nil, true),
        ] as [(JSONValue?, String?, Bool)])
    func nonceOnRefresh(nonce: JSONValue?, earlier: String?, isGood: Bool) async throws {
        try await withProvider { bed async throws in
            func token(_ nonce: JSONValue?) -> String {
                bed.provider.identity.sign(
                    bed.goodClaims.merging(["nonce": nonce ?? .null]) { $1 }.filter {
                        $0.value != .null
                    })
            }
            var expectation = IDTokenExpectation(clientID: "app", nonce: nil)
            expectation.earlierNonce = earlier.map { ExactText($0) }
            let failure = await bed.failure { [expectation] in
                try await bed.oauth.verify(
                    idToken: Secret(token(nonce)), against: expectation, at: bed.metadata())
            }
            #expect((failure == nil) == isGood)
        }
    }

    @Test(
        "a hash of the access token must match the token that came with it", arguments: SigningIdentity.Kind.allCases)
    func accessTokenHash(kind: SigningIdentity.Kind) async throws {
        try await withProvider(kind) { bed async throws in
            func half(_ hash: some Sequence<UInt8>) -> String {
                let hash = Array(hash)
                return Base64URL.encode(hash.prefix(hash.count / 2))
            }
            let (name, token) = (bed.provider.identity.algorithm, Data("at-1".utf8))
            let right =
                name.hasSuffix("256")
                ? half(Digest.sha256.of(token))
                : name.hasSuffix("384") ? half(Digest.sha384.of(token)) : half(Digest.sha512.of(token))
            for (hash, isGood) in [
                (.string(right), true), (.null, true), ("", false), (.string(right + "A"), false), (5, false),
                (.string(half(Digest.sha256.of("at-2".utf8))), false), (.string(Base64URL.encode(token)), false),
            ] as [(JSONValue, Bool)] {
                var expectation = IDTokenExpectation(clientID: "app", nonce: "n-1")
                expectation.accessToken = Secret("at-1")
                let claims = bed.goodClaims.merging(["at_hash": hash]) { $1 }
                let failure = await bed.failure { [expectation] in
                    try await bed.oauth.verify(
                        idToken: Secret(bed.provider.identity.sign(claims)), against: expectation, at: bed.metadata())
                }
                #expect((failure == nil) == isGood, "\(hash)")
            }
        }
    }

    @Test(
        "a duplicate member is refused, in header and claims, in any spelling of its name",
        arguments: [
            ([#""sub":"mallory","#], false), ([#""s\u0075b":"mallory","#], false), ([#""x":{"y":1,"y":2},"#], false),
            ([#""x":[{"y":1},{"y":2}],"z":{"y":"{\"sub\":"},"#], true), ([#""x":["sub","sub"],"#], true),
            ([#""Sub":"mallory","#], true), ([], true),
        ] as [([String], Bool)])
    func twice(members: [String], isGood: Bool) async throws {
        try await withProvider { bed async throws in
            func token(_ change: (String) -> String, inHeader: Bool) -> String {
                bed.provider.identity.sign(bed.goodClaims) { part in
                    guard part.contains("\"alg\"") == inHeader else { return part }
                    return change(part)
                }
            }
            func doubled(_ part: String) -> String {
                // Together with the right one, before it and after it.
                let extra = members.joined()
                return extra.isEmpty ? part : "{" + extra + part.dropFirst()
            }
            let failure = await bed.failure { try await bed.verify(token(doubled, inHeader: false)) }
            #expect((failure == nil) == isGood)
            guard !isGood else { return }
            for extra in [#""alg":"none","#, #""kid":"other","#, #""\u0061lg":"none","#] {
                await bed.refusesToken(token({ "{" + extra + $0.dropFirst() }, inHeader: true))
                await bed.refusesToken(token({ $0.dropLast() + "," + extra.dropLast() + "}" }, inHeader: true))
            }
            await bed.refusesToken(token({ $0.dropLast() + "," + members.joined().dropLast() + "}" }, inHeader: false))
        }
    }

    @Test("claims in another encoding than UTF-8 are refused")
    func encoding() async throws {
        try await withProvider { bed async throws in
            let claims = try JSONEncoder().encode(JSONValue.object(bed.goodClaims))
            let text = String(decoding: claims, as: UTF8.self)
            for data in [
                text.data(using: .utf16), text.data(using: .utf16LittleEndian), Data([0xef, 0xbb, 0xbf]) + claims,
            ] {
                await bed.refusesToken(bed.provider.identity.sign(payload: try #require(data)))
            }
            #expect(try await bed.verify(bed.provider.identity.sign(payload: claims)).subject == "alice")
        }
    }

    @Test("the issuer is compared exactly with the provider's own spelling")
    func issuerSpelling() async throws {
        try await withProvider { bed async throws in
            let issuer = bed.provider.issuer + "/"
            bed.provider.configure { $0.metadata = ["issuer": .string(issuer)] }
            #expect(try await bed.verify(changing: ["iss": .string(issuer)]).issuer == ExactText(issuer))
            #expect(await bed.failure { try await bed.verify(changing: [:]) }?.isInvalidResponse == true)
        }
    }
}
