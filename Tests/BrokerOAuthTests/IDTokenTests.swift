import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

extension ProviderBed {
    /// Claims that are valid in every way.
    var goodClaims: JSONObject {
        [
            "iss": .string(provider.issuer), "sub": "alice", "aud": "app", "nonce": "n-1",
            "iat": .integer(clock.now), "exp": .integer(clock.now + 600),
        ]
    }

    func verify(_ token: String, clientID: String = "app", nonce: String? = "n-1") async throws -> IDTokenClaims {
        try await oauth.verify(
            idToken: Secret(token), against: .init(clientID: clientID, nonce: nonce), at: metadata())
    }

    /// The good claims with changes; null takes a claim away.
    func verify(changing changes: JSONObject, nonce: String? = "n-1") async throws -> IDTokenClaims {
        let claims = goodClaims.merging(changes) { $1 }.filter { $0.value != .null }
        return try await verify(provider.identity.sign(claims), nonce: nonce)
    }

    /// Expects that Alice's token is accepted, or refused.
    func verifies(
        _ token: String, _ isTaken: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        guard isTaken else { return await refusesToken(token, sourceLocation: sourceLocation) }
        #expect(try await verify(token).subject == "alice", sourceLocation: sourceLocation)
    }

    func refusesToken(_ token: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        let failure = await failure { try await verify(token) }
        guard case .invalidResponse(status: nil, let text) = failure else {
            Issue.record("\(String(describing: failure))", sourceLocation: sourceLocation)
            return
        }
        #expect(!text.contains(token), sourceLocation: sourceLocation)
    }
}

@Suite("ID token signatures")
struct IDTokenSignatureTests {
    @Test(
        "every listed algorithm is verified, and a flipped bit is detected",
        arguments: SigningIdentity.Kind.allCases)
    func algorithms(kind: SigningIdentity.Kind) async throws {
        try await withProvider(kind) { bed async throws in
            let token = bed.provider.identity.sign(bed.goodClaims)
            let claims = try await bed.verify(token)
            #expect(claims.subject == "alice")
            #expect(claims.all["exp"] == .integer(bed.clock.now + 600))

            let parts = token.split(separator: ".").map(String.init)
            let other = bed.goodClaims.merging(["sub": "mallory"]) { $1 }
            let forged = bed.provider.identity.sign(other).split(separator: ".").map(String.init)
            await bed.refusesToken("\(parts[0]).\(forged[1]).\(parts[2])")
            var signature = Array(parts[2])
            signature[4] = signature[4] == "A" ? "B" : "A"
            await bed.refusesToken("\(parts[0]).\(parts[1]).\(String(signature))")
        }
    }

    @Test(
        "a token without a signature is refused, with any algorithm in its header",
        arguments: ["none", "None", "NONE", ""])
    func none(name: String) async throws {
        try await withProvider { bed async throws in
            let token = SigningIdentity.assemble(["alg": .string(name)], bed.goodClaims) { _ in [] }
            await bed.refusesToken(token)
        }
    }

    @Test("the public key does not serve as a shared secret", arguments: ["HS256", "HS384", "HS512"])
    func publicKeyAsSharedSecret(name: String) async throws {
        try await withProvider(.rs256) { bed async throws in
            let published = try JSONEncoder().encode(JSONValue.object(bed.provider.identity.jwk))
            let modulus = bed.provider.identity.jwk["n"]?.stringValue ?? ""
            for key in [published, Data(modulus.utf8)] {
                let token = SigningIdentity.assemble(["alg": .string(name), "kid": "key-1"], bed.goodClaims) { signed in
                    hs256(of: signed, key: Array(key))
                }
                await bed.refusesToken(token)
            }
        }
    }

    /// A token that is authenticated with a shared secret.
    private func token(_ bed: ProviderBed, secret: String, algorithm: String = "HS256") -> String {
        SigningIdentity.assemble(["alg": .string(algorithm)], bed.goodClaims) { signed in
            hs256(of: signed, key: Array(secret.utf8))
        }
    }

    @Test("a confidential client's secret may authenticate a token if the provider announces it")
    func clientSecret() async throws {
        try await withProvider { bed async throws in
            func verify(_ token: String, secret: String?) async -> ProviderError? {
                var expectation = IDTokenExpectation(clientID: "app", nonce: "n-1")
                expectation.clientSecret = secret.map { Secret($0) }
                return await bed.failure { [expectation] in
                    try await bed.oauth.verify(idToken: Secret(token), against: expectation, at: bed.metadata())
                }
            }
            let good = token(bed, secret: "s3cret")
            #expect(await verify(good, secret: "s3cret") != nil, "the provider names other algorithms only")
            bed.provider.configure { $0.metadata["id_token_signing_alg_values_supported"] = ["RS256", "HS256"] }
            bed.clock.advance(bySeconds: 3600)
            let offered = token(bed, secret: "s3cret")
            #expect(await verify(offered, secret: "s3cret") == nil)
            #expect(await verify(offered, secret: nil) != nil, "a public client has nothing to check it with")
            #expect(await verify(offered, secret: "other") != nil)
            #expect(await verify(token(bed, secret: ""), secret: "") != nil)
            #expect(await verify(token(bed, secret: "s3cret", algorithm: "HS512"), secret: "s3cret") != nil)
            #expect(await verify(token(bed, secret: "s3cret", algorithm: "none"), secret: "s3cret") != nil)
            let unsigned = SigningIdentity.assemble(["alg": "HS256"], bed.goodClaims) { _ in [] }
            #expect(await verify(unsigned, secret: "s3cret") != nil)
            let published = bed.provider.identity.sign(bed.goodClaims)
            #expect(await verify(published, secret: "s3cret") == nil, "published keys are good all the same")
        }
    }

    @Test("EdDSA accepts the name Ed25519 in the token and in the key", arguments: ["Ed25519", "EdDSA"])
    func ed25519(name: String) async throws {
        try await withProvider(.edDSA) { bed async throws in
            let jwk = bed.provider.identity.jwk
            for published in [JSONValue.string("Ed25519"), "EdDSA", .null] {
                let key = jwk.merging(["alg": published]) { $1 }.filter { $0.value != .null }
                bed.provider.on(.keys) { _ in .json(["keys": [.object(key)]]) }
                bed.clock.advance(bySeconds: 3600)
                let token = bed.provider.identity.sign(bed.goodClaims, header: ["alg": .string(name)])
                #expect(try await bed.verify(token).subject == "alice")
            }
            await bed.refusesToken(bed.provider.identity.sign(bed.goodClaims, header: ["alg": "Ed448"]))
        }
    }

    @Test("a key is used only for the algorithm it is published for", arguments: [SigningIdentity.Kind.ps256, .es256])
    func algorithmOfTheKey(kind: SigningIdentity.Kind) async throws {
        try await withProvider(kind) { bed async throws in
            let jwk = bed.provider.identity.jwk
            func publish(_ changes: JSONObject) {
                let key = jwk.merging(changes) { $1 }.filter { $0.value != .null }
                bed.provider.on(.keys) { _ in .json(["keys": [.object(key)]]) }
                bed.clock.advance(bySeconds: 3600)
            }
            // The signature is valid in every case: only the key's own description changes.
            for (changes, isGood) in [
                ([:], true), (["alg": .null], true), (["alg": "RS256"], false), (["use": "enc"], false),
                (["use": .null], true), (["key_ops": ["encrypt"]], false), (["key_ops": ["verify"]], true),
                (["kty": "oct"], false),
            ] as [(JSONObject, Bool)] {
                publish(changes)
                let token = bed.provider.identity.sign(bed.goodClaims)
                let failure = await bed.failure { try await bed.verify(token) }
                #expect((failure == nil) == isGood, "\(changes)")
            }
        }
    }

    @Test("a key for encryption, a shared secret and invalid keys in the key set are ignored")
    func otherKeys() async throws {
        try await withProvider { bed async throws in
            let good = bed.provider.identity.jwk
            let encryption = good.merging(["use": "enc"]) { $1 }
            bed.provider.on(.keys) { _ in
                .json([
                    "keys": [
                        5, .object([:]), ["kty": "oct", "k": "AAAA", "kid": "key-1"], .object(encryption),
                        ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "key-1"], .object(good),
                    ]
                ])
            }
            #expect(try await bed.verify(bed.provider.identity.sign(bed.goodClaims)).subject == "alice")
            bed.provider.on(.keys) { _ in .json(["keys": [.object(encryption)]]) }
            bed.clock.advance(bySeconds: 3600)
            await bed.refusesToken(bed.provider.identity.sign(bed.goodClaims))
        }
    }

    @Test("keys without an id verify tokens with and without one")
    func keysWithoutID() async throws {
        try await withProvider { bed async throws in
            let first = try SigningIdentity.make(.es256, keyID: nil)
            let second = try SigningIdentity.make(.es256, keyID: nil)
            bed.provider.rotateKeys(to: first)
            bed.provider.rotateKeys(to: second, keepingOld: true)
            for identity in [first, second] {
                for header in [JSONObject(), ["kid": "whatever"]] {
                    let claims = try await bed.verify(identity.sign(bed.goodClaims, header: header))
                    #expect(claims.subject == "alice")
                }
            }
        }
    }

    @Test("the key with the token's id is used among several")
    func severalKeys() async throws {
        try await withProvider { bed async throws in
            let old = bed.provider.identity
            bed.provider.rotateKeys(to: try .make(.rs256, keyID: "key-2"), keepingOld: true)
            let new = bed.provider.identity
            for identity in [old, new] {
                let claims = try await bed.verify(identity.sign(bed.goodClaims))
                #expect(claims.subject == "alice")
            }
            await bed.refusesToken(old.sign(bed.goodClaims, header: ["kid": "key-2"]))
        }
    }

    @Test("an embedded key is not used", arguments: ["jwk", "jku"])
    func embeddedKey(field: String) async throws {
        try await withProvider { bed async throws in
            let own = try SigningIdentity.make(.es256, keyID: "mine")
            let value: JSONValue = field == "jwk" ? .object(own.jwk) : .string(bed.provider.issuer + "/own-keys")
            await bed.refusesToken(own.sign(bed.goodClaims, header: [field: value]))
            #expect(!bed.provider.requests.contains { $0.path == "/own-keys" })
        }
    }

    @Test(
        "text that is not a token, or a token of another kind, is refused",
        arguments: [
            "", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.AA", "e30=.e30=.AA", " e30.e30.AA",
            String(repeating: "A", count: 70_000),
        ])
    func malformed(token: String) async throws {
        try await withProvider { bed async throws in
            let failure = await bed.failure { try await bed.verify(token) }
            #expect(failure?.isInvalidResponse == true)
        }
    }

    @Test("a critical extension and a token with another type are refused")
    func headers() async throws {
        try await withProvider { bed async throws in
            await bed.refusesToken(bed.provider.identity.sign(bed.goodClaims, header: ["crit": ["b64"], "b64": false]))
            await bed.refusesToken(bed.provider.identity.sign(bed.goodClaims, header: ["typ": "at+jwt"]))
            #expect(
                try await bed.verify(bed.provider.identity.sign(bed.goodClaims, header: ["typ": .null])).subject
                    == "alice")
        }
    }
}

@Suite("Key rotation")
struct KeyRotationTests {
    @Test("an unknown key id makes the broker fetch the new keys at once")
    func rotation() async throws {
        try await withProvider { bed async throws in
            _ = try await bed.verify(bed.provider.identity.sign(bed.goodClaims))
            bed.provider.rotateKeys(to: try .make(.rs256, keyID: "key-2"))
            let claims = try await bed.verify(bed.provider.identity.sign(bed.goodClaims))
            #expect(claims.subject == "alice")
            #expect(bed.provider.requests(to: .keys).count == 2)
        }
    }

    @Test("a new key under an old id, or without any, is found as well", arguments: ["key-1", nil] as [String?])
    func silentRotation(keyID: String?) async throws {
        try await withProvider { bed async throws in
            bed.provider.rotateKeys(to: try .make(.es256, keyID: keyID))
            _ = try await bed.verify(bed.provider.identity.sign(bed.goodClaims))
            bed.provider.rotateKeys(to: try .make(.es256, keyID: keyID))
            let claims = try await bed.verify(bed.provider.identity.sign(bed.goodClaims))
            #expect(claims.subject == "alice")
        }
    }

    @Test("forged key ids cause at most one request a minute to the provider")
    func rateLimit() async throws {
        try await withProvider { bed async throws in
            _ = try await bed.verify(bed.provider.identity.sign(bed.goodClaims))
            let forger = try SigningIdentity.make(.es256, keyID: "forged")
            for number in 0..<5 {
                await bed.refusesToken(forger.sign(bed.goodClaims, header: ["kid": .string("forged-\(number)")]))
            }
            #expect(bed.provider.requests(to: .keys).count == 2)
            bed.clock.advance(bySeconds: 60)
            await bed.refusesToken(forger.sign(bed.goodClaims))
            #expect(bed.provider.requests(to: .keys).count == 3)
        }
    }

    @Test("tokens that arrive together after a change of keys share one fetch, and all are verified")
    func simultaneous() async throws {
        try await withProvider { bed async throws in
            _ = try await bed.verify(bed.provider.identity.sign(bed.goodClaims))
            bed.provider.rotateKeys(to: try .make(.es256, keyID: "key-2"))
            let gate = Gate()
            let begun = Recorder<Int>()
            bed.provider.on(.keys) { _ in
                await gate.wait()
                return nil
            }
            let token = bed.provider.identity.sign(bed.goodClaims)
            let subjects = try await withThrowingTaskGroup(of: ExactText.self) { group in
                for number in 1...8 {
                    group.addTask {
                        begun.add(number)
                        if begun.all.count >= 8 { gate.open() }
                        return try await bed.verify(token).subject
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(subjects == Array(repeating: "alice", count: 8))
            #expect(bed.provider.requests(to: .keys).count == 2)
        }
    }

    @Test("a failure to fetch new keys is reported as such, and the next attempt asks again")
    func providerDown() async throws {
        try await withProvider { bed async throws in
            _ = try await bed.verify(bed.provider.identity.sign(bed.goodClaims))
            bed.provider.rotateKeys(to: try .make(.es256, keyID: "key-2"))
            bed.provider.on(.keys) { _ in .empty(503) }
            let token = bed.provider.identity.sign(bed.goodClaims)
            let moments = bed.passMoments()
            defer { moments.cancel() }
            guard case .unavailable(503, _, _) = await bed.failure({ try await bed.verify(token) }) else {
                Issue.record("it was something else")
                return
            }
            bed.provider.behave(at: .keys)
            #expect(try await bed.verify(token).subject == "alice")
        }
    }

    @Test("an invalid key set is not kept")
    func noKeySet() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.keys) { _ in .json(["nothing": "here"]) }
            let token = bed.provider.identity.sign(bed.goodClaims)
            #expect(await bed.failure { try await bed.verify(token) }?.isInvalidResponse == true)
            bed.provider.behave(at: .keys)
            #expect(try await bed.verify(token).subject == "alice")
        }
    }
}
