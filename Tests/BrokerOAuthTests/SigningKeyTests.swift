import BrokerModel
import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// Keys and signatures from the openssl program.
private struct RSAKey {
    let bed: TestBed
    let file: String
    let jwk: JSONObject

    static func make(bits: Int, exponent: Int, primes: Int = 2, in bed: TestBed) async throws -> RSAKey {
        let number = withUnsafeBytes(of: exponent.bigEndian) { Array($0.drop { $0 == 0 }) }
        return try await make(bits: bits, publicExponent: "\(exponent)", bytes: number, primes: primes, in: bed)
    }

    /// - Parameters:
    ///   - bytes: of the exponent.
    ///   - primes: more than two make a large key faster.
    static func make(
        bits: Int, publicExponent: String, bytes: [UInt8], primes: Int = 2, in bed: TestBed
    ) async throws -> RSAKey {
        let file = bed.path(bed.unique("key"))
        try await bed.require(
            "openssl",
            [
                "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)", "-pkeyopt",
                "rsa_keygen_pubexp:\(publicExponent)", "-pkeyopt", "rsa_keygen_primes:\(primes)", "-out", file,
            ])
        let said = try await bed.require("openssl", ["rsa", "-in", file, "-noout", "-modulus"])
        let hex = Array(said.trimmingCharacters(in: .newlines).dropFirst("Modulus=".count).utf8)
        let modulus = stride(from: 0, to: hex.count, by: 2).compactMap {
            UInt8(String(decoding: hex[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return RSAKey(
            bed: bed, file: file,
            jwk: [
                "kty": "RSA", "use": "sig", "kid": "key-1", "n": .string(Base64URL.encode(modulus)),
                "e": .string(Base64URL.encode(bytes)),
            ])
    }

    func token(_ claims: JSONObject, _ algorithm: String, options: [String] = []) async throws -> String {
        let empty = SigningIdentity.assemble(["alg": .string(algorithm), "kid": "key-1"], claims) { _ in [] }
        let (text, signature) = (bed.path(bed.unique("signed")), bed.path(bed.unique("signature")))
        try Data(empty.dropLast().utf8).write(to: URL(filePath: text))
        try await bed.require("openssl", ["dgst", "-sha256", "-sign", file, "-out", signature] + options + [text])
        return empty + Base64URL.encode(try Data(contentsOf: URL(filePath: signature)))
    }
}

extension ProviderBed {
    fileprivate func publish(_ key: JSONObject, _ changes: JSONObject = [:]) {
        let key = key.merging(changes) { $1 }
        provider.on(.keys) { _ in .json(["keys": [.object(key)]]) }
        clock.advance(bySeconds: 3600)
    }
}

extension ProviderError {
    fileprivate var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}

@Suite("A provider's published keys")
struct SigningKeyTests {
    @Test(
        "an RSA key has 2,048 to 8,192 bits",
        arguments: [(1024, false), (2040, false), (2048, true), (3072, true), (8192, true), (8200, false)])
    func size(bits: Int, isTaken: Bool) async throws {
        try await withTestBed { tools in
            try await withProvider { bed async throws in
                let key = try await RSAKey.make(bits: bits, exponent: 65537, primes: bits > 4096 ? 5 : 2, in: tools)
                bed.publish(key.jwk)
                let token = try await key.token(bed.goodClaims, "RS256")
                try await bed.verifies(token, isTaken)
            }
        }
    }

    @Test(
        "withdrawn keys verify only refreshed tokens, for a day, while the provider is unavailable"
    )
    func withdrawn() async throws {
        try await withProvider { bed async throws in
            let metadata = try await bed.metadata()
            let moments = bed.passMoments()
            defer { moments.cancel() }
            let start = bed.clock.now
            func verify(isSignIn: Bool) async -> ProviderError? {
                var expectation = IDTokenExpectation(clientID: "app", nonce: nil)
                expectation.isSignIn = isSignIn
                let token = Secret(bed.provider.identity.sign(bed.goodClaims))
                return await bed.failure { [expectation] in
                    try await bed.oauth.verify(idToken: token, against: expectation, at: metadata)
                }
            }
            #expect(await verify(isSignIn: true) == nil)
            bed.provider.on(.keys) { _ in .empty(503) }
            #expect(await verify(isSignIn: true) == nil, "the provider let them be kept for an hour")
            bed.clock.advance(bySeconds: 3600)
            // The second time the provider is not asked again.
            for _ in 1...2 {
                #expect(await verify(isSignIn: false) == nil)
                #expect(await verify(isSignIn: true)?.isUnavailable == true)
            }
            // A sign-in that failed has waited a moment.
            bed.clock.advance(bySeconds: start + 86_399 - bed.clock.now)
            #expect(await verify(isSignIn: false) == nil)
            bed.clock.advance(bySeconds: 1)
            #expect(await verify(isSignIn: false)?.isUnavailable == true)
        }
    }

    @Test("an exponent of 3 is accepted, and 1, with which any text is its own signature, is refused")
    func exponents() async throws {
        try await withTestBed { tools in
            try await withProvider { bed async throws in
                let key = try await RSAKey.make(bits: 2048, exponent: 3, in: tools)
                bed.publish(key.jwk)
                #expect(try await bed.verify(try await key.token(bed.goodClaims, "RS256")).subject == "alice")

                let forged = SigningIdentity.assemble(["alg": "RS256", "kid": "key-1"], bed.goodClaims) { signed in
                    // EMSA-PKCS1-v1_5 (RFC 8017, section 9.2).
                    let info: [UInt8] = [
                        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
                        0x00,
                        0x04, 0x20,
                    ]
                    let tail = [0] + info + Array(Digest.sha256.of(signed))
                    return [0, 1] + [UInt8](repeating: 0xff, count: 256 - 2 - tail.count) + tail
                }
                bed.publish(key.jwk, ["e": "AQ"])
                await bed.refusesToken(forged)
            }
        }
    }

    @Test("an exponent has at most 64 bits")
    func largestExponent() async throws {
        try await withTestBed { tools in
            try await withProvider { bed async throws in
                let key = try await RSAKey.make(bits: 2048, exponent: (1 << 62) + 1, in: tools)
                bed.publish(key.jwk)
                #expect(try await bed.verify(try await key.token(bed.goodClaims, "RS256")).subject == "alice")
                // 2^64 + 1, and its key's own signature.
                let large = try await RSAKey.make(
                    bits: 2048, publicExponent: "18446744073709551617", bytes: [1, 0, 0, 0, 0, 0, 0, 0, 1], in: tools)
                bed.publish(large.jwk)
                await bed.refusesToken(try await large.token(bed.goodClaims, "RS256"))
            }
        }
    }

    @Test("at most a dozen keys are tried for a token without a key id", arguments: [(11, true), (12, false)])
    func manyKeys(others: Int, isTaken: Bool) async throws {
        try await withProvider { bed async throws in
            var keys: [JSONValue] = []
            for _ in 0..<others { keys.append(.object(try SigningIdentity.make(.es256, keyID: nil).jwk)) }
            let identity = try SigningIdentity.make(.es256, keyID: nil)
            let all = keys + [.object(identity.jwk)]
            bed.provider.on(.keys) { _ in .json(["keys": .array(all)]) }
            let token = identity.sign(bed.goodClaims)
            try await bed.verifies(token, isTaken)
        }
    }

    @Test("the salt of PSS must be as long as the digest", arguments: [(32, true), (20, false), (64, false)])
    func salt(length: Int, isTaken: Bool) async throws {
        try await withTestBed { tools in
            try await withProvider { bed async throws in
                let key = try await RSAKey.make(bits: 2048, exponent: 65537, in: tools)
                bed.publish(key.jwk)
                let token = try await key.token(
                    bed.goodClaims, "PS256",
                    options: ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:\(length)"])
                try await bed.verifies(token, isTaken)
            }
        }
    }

    @Test("numbers in plain base64, with padding, and a coordinate without its leading zero are accepted")
    func oddNumbers() async throws {
        try await withProvider(.rs256) { bed async throws in
            let identity = bed.provider.identity
            let plain = identity.jwk.mapValues { value -> JSONValue in
                guard let text = value.stringValue, let bytes = Base64URL.decode(text.utf8), bytes.count > 100 else {
                    return value
                }
                return .string(Data(bytes).base64EncodedString())
            }
            #expect(plain["n"]?.stringValue?.hasSuffix("==") == true)
            bed.publish(plain)
            #expect(try await bed.verify(identity.sign(bed.goodClaims)).subject == "alice")

            var key = try ProviderKey(.p256)
            while key.number(.x).first != 0 { key = try ProviderKey(.p256) }
            bed.publish([
                "kty": "EC", "crv": "P-256", "kid": "key-1", "x": .string(Base64URL.encode(key.number(.x).dropFirst())),
                "y": .string(Base64URL.encode(key.number(.y))),
            ])
            let token = SigningIdentity.assemble(["alg": "ES256", "kid": "key-1"], bed.goodClaims) {
                Array((try? key.signature(of: $0)) ?? Data())
            }
            #expect(try await bed.verify(token).subject == "alice")
        }
    }

    /// r and s of 32 octets each as most other protocols have them: a sequence of two integers (RFC 3279, section 2.2.3).
    private static func inDER(_ signature: [UInt8]) -> [UInt8] {
        let integers = [signature.prefix(32), signature.suffix(32)].flatMap { half -> [UInt8] in
            let digits = half.drop { $0 == 0 }
            // Without it, the number would be negative.
            let sign: [UInt8] = digits.first.map { $0 < 128 } == true ? [] : [0]
            return [0x02, UInt8(sign.count + digits.count)] + sign + digits
        }
        return [0x30, UInt8(integers.count)] + integers
    }

    @Test("an ECDSA signature is r and s in full length, and zeros are refused")
    func ellipticSignatures() async throws {
        try await withProvider { bed async throws in
            let key = try ProviderKey(.p256)
            bed.publish([
                "kty": "EC", "crv": "P-256", "kid": "key-1", "x": .string(Base64URL.encode(key.number(.x))),
                "y": .string(Base64URL.encode(key.number(.y))),
            ])
            func token(_ change: ([UInt8]) -> [UInt8]) -> String {
                SigningIdentity.assemble(["alg": "ES256", "kid": "key-1"], bed.goodClaims) {
                    (try? key.signature(of: $0)).map { change(Array($0)) } ?? []
                }
            }
            // Outside the macro: Swift 6.3 confuses a closure there with the next one outside.
            let good = token { $0 }
            #expect(try await bed.verify(good).subject == "alice")
            await bed.refusesToken(token(Self.inDER))
            await bed.refusesToken(token { $0 + [0] })
            await bed.refusesToken(token { $0.dropLast() })
            await bed.refusesToken(token { _ in [UInt8](repeating: 0, count: 64) })
            await bed.refusesToken(token { _ in [] })
        }
    }
}
