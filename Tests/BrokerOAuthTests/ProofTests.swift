import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// A parsed proof, whose signature is checked with its own key.
struct ReadProof {
    let header: JSONObject
    let claims: JSONObject
    let thumbprint: String

    init(_ text: String) throws {
        let parts = text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        func bytes(_ text: String?) throws -> Data {
            let text = try #require(text).replacingOccurrences(of: "-", with: "+").replacingOccurrences(
                of: "_", with: "/")
            return try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)))
        }
        header = try JSONDecoder().decode(JSONObject.self, from: bytes(parts[0]))
        claims = try JSONDecoder().decode(JSONObject.self, from: bytes(parts[1]))
        let jwk = try #require(header["jwk"]?.objectValue)
        let (x, y) = (try bytes(jwk["x"]?.stringValue), try bytes(jwk["y"]?.stringValue))
        let key = try #require(ProviderKey(p256: x, y))
        let signature = try bytes(parts[2])
        #expect(key.verifies(signature, of: "\(parts[0]).\(parts[1])".utf8))
        #expect(jwk["d"] == nil)
        let canonical =
            #"{"crv":"P-256","kty":"EC","x":"\#(jwk["x"]?.stringValue ?? "")","y":"\#(jwk["y"]?.stringValue ?? "")"}"#
        thumbprint = Base64URL.encode(Digest.sha256.of(canonical.utf8))
    }
}

@Suite("Proofs of possession (RFC 9449)")
struct ProofTests {
    private let signer = ES256ProofSigner(random: CountingRandom())

    private func proof(
        _ url: String = "https://api.example/mail", token: Secret? = nil, nonce: String? = nil
    ) throws -> ReadProof {
        let target = ProofTarget(method: "GET", url: url)
        let text = signer.proof(
            with: try #require(signer.makeKey()), for: target, accessToken: token, nonce: nonce, now: 1_700_000_000)
        return try ReadProof(try #require(text))
    }

    @Test("header and claims are those of section 4.2, and the signature is valid")
    func whole() throws {
        let proof = try proof()
        #expect(proof.header["typ"] == "dpop+jwt")
        #expect(proof.header["alg"] == "ES256")
        #expect(Set(proof.header.keys) == ["typ", "alg", "jwk"])
        #expect(Set(proof.claims.keys) == ["jti", "htm", "htu", "iat"])
        #expect(proof.claims["htm"] == "GET")
        #expect(proof.claims["htu"] == "https://api.example/mail")
        #expect(proof.claims["iat"] == 1_699_999_999, "a second back, for servers whose clock ticks late")
    }

    @Test("the token's hash and the nonce are included if given")
    func tokenAndNonce() throws {
        // The example of section 7.1.
        let token = Secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")
        let proof = try proof(token: token, nonce: "n-1")
        #expect(proof.claims["ath"] == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        #expect(proof.claims["nonce"] == "n-1")
    }

    @Test("every proof has a different id")
    func ids() throws {
        let ids = try (0..<50).map { _ in try proof().claims["jti"]?.stringValue }
        #expect(Set(ids).count == 50)
    }

    @Test(
        "the URL is written without query and fragment, in the form that servers compare",
        arguments: [
            ("HTTPS://API.Example:443/Mail?x=1#y", "https://api.example/Mail"),
            ("https://api.example", "https://api.example/"), ("https://api.example?x", "https://api.example/"),
            ("http://127.0.0.1:80/a%2fb", "http://127.0.0.1/a%2fb"),
            ("https://api.example:8443/", "https://api.example:8443/"),
        ])
    func urls(given: String, written: String) throws {
        #expect(try proof(given).claims["htu"]?.stringValue == written)
    }

    @Test("an invalid URL or key gives no proof")
    func refused() throws {
        let key = try #require(signer.makeKey())
        for url in ["", "mailto:a@b", "https://a@b.example/", "/path"] {
            let target = ProofTarget(method: "GET", url: url)
            #expect(signer.proof(with: key, for: target, accessToken: nil, nonce: nil, now: 0) == nil)
        }
        for bytes in [[UInt8](), [UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32), [1, 2, 3]] {
            #expect(signer.key(privateKey: bytes.withUnsafeBytes { Secret(copying: $0) }) == nil)
        }
    }

    @Test("a key that was read back has the thumbprint of its proofs")
    func thumbprint() throws {
        let key = try #require(signer.makeKey())
        let again = try #require(signer.key(privateKey: key.privateKey))
        #expect(again.thumbprint == key.thumbprint)
        let target = ProofTarget(method: "POST", url: "https://a.example/")
        let text = try #require(signer.proof(with: again, for: target, accessToken: nil, nonce: nil, now: 0))
        #expect(try ReadProof(text).thumbprint == key.thumbprint)
        #expect(signer.makeKey()?.thumbprint != key.thumbprint)
    }
}

@Suite("DPoP at the token endpoint")
struct ProvenTokenRequestTests {
    private let signer = ES256ProofSigner(random: CountingRandom())

    private func refresh(_ bed: ProviderBed, with key: ProofKey?) async throws -> TokenResponse {
        var extras = TokenRequestExtras()
        extras.proofKey = key
        return try await bed.oauth.redeem(
            .refreshToken(Secret("rt"), scopes: Scopes([])), with: extras, as: .init(clientID: "app"),
            at: bed.metadata())
    }

    private func proofs(_ bed: ProviderBed) throws -> [ReadProof] {
        try bed.provider.requests(to: .token).map { try ReadProof($0.headers["dpop"] ?? "") }
    }

    private static let bound = ProviderAnswer.json(["access_token": "at", "token_type": "DPoP"])

    @Test("a proof of the key is sent, made for the token endpoint")
    func proof() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { _ in Self.bound }
            let key = try #require(signer.makeKey())
            #expect(try await refresh(bed, with: key).tokenType == .dpop)
            let proof = try #require(try proofs(bed).first)
            #expect(proof.thumbprint == key.thumbprint)
            #expect(proof.claims["htm"] == "POST")
            #expect(proof.claims["htu"]?.stringValue == bed.provider.issuer + "/token")
            #expect(proof.claims["iat"] == .integer(bed.clock.now - 1))
            #expect(proof.claims["ath"] == nil)
        }
    }

    @Test("a server that requires a nonce gets one more request with it, and the next one begins with it")
    func nonce() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { request in
                let proof = try? ReadProof(request.headers["dpop"] ?? "")
                if proof?.claims["nonce"] == "n-1" { return Self.bound }
                return .json(["error": "use_dpop_nonce"], status: 400, headers: [("DPoP-Nonce", "n-1")])
            }
            let key = try #require(signer.makeKey())
            _ = try await refresh(bed, with: key)
            _ = try await refresh(bed, with: key)
            let proofs = try proofs(bed)
            #expect(proofs.map { $0.claims["nonce"] } == [nil, "n-1", "n-1"])
            #expect(Set(proofs.map { $0.claims["jti"]?.stringValue }).count == 3)
        }
    }

    @Test("issuers that share a host have separate nonces")
    func neighbours() async throws {
        try await withProvider { bed async throws in
            let paths = ["/a/token", "/b/token"]
            for path in paths {
                bed.provider.on(path: path) { request in
                    let proof = try? ReadProof(request.headers["dpop"] ?? "")
                    if proof?.claims["nonce"] == .string("n-\(path)") { return Self.bound }
                    return .json(["error": "use_dpop_nonce"], status: 400, headers: [("DPoP-Nonce", "n-\(path)")])
                }
            }
            var extras = TokenRequestExtras()
            extras.proofKey = signer.makeKey()
            for path in paths + paths {
                var metadata = try await bed.metadata()
                metadata.tokenEndpoint = bed.provider.issuer + path
                _ = try await bed.oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes([])), with: extras, as: .init(clientID: "app"),
                    at: metadata)
            }
            #expect(bed.provider.requests.filter { paths.contains($0.path) }.count == 6, "one refusal each, at first")
        }
    }

    @Test("a server whose nodes have separate nonces gets one more request with the second node's")
    func nodes() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { request in
                let proof = try? ReadProof(request.headers["dpop"] ?? "")
                if proof?.claims["nonce"] == "n-2" { return Self.bound }
                let other = proof?.claims["nonce"] == "n-1" ? "n-2" : "n-1"
                return .json(["error": "use_dpop_nonce"], status: 400, headers: [("DPoP-Nonce", other)])
            }
            let key = try #require(signer.makeKey())
            #expect(try await refresh(bed, with: key).tokenType == .dpop)
            #expect(try proofs(bed).map { $0.claims["nonce"] } == [nil, "n-1", "n-2"])
        }
    }

    @Test("a server that asks for another nonce each time gets three requests")
    func endlessNonces() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { [unowned provider = bed.provider] _ in
                let number = provider.requests(to: .token).count
                return .json(["error": "use_dpop_nonce"], status: 400, headers: [("DPoP-Nonce", "n-\(number)")])
            }
            let key = try #require(signer.makeKey())
            #expect(await bed.refusal { try await refresh(bed, with: key) }?.error == "use_dpop_nonce")
            #expect(try proofs(bed).map { $0.claims["nonce"] } == [nil, "n-1", "n-2"])
        }
    }

    @Test("a server that always asks for the same nonce gets only two requests")
    func greedyServer() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { _ in
                .json(["error": "use_dpop_nonce"], status: 400, headers: [("DPoP-Nonce", "same")])
            }
            let key = try #require(signer.makeKey())
            #expect(await bed.refusal { try await refresh(bed, with: key) }?.error == "use_dpop_nonce")
            #expect(bed.provider.requests(to: .token).count == 2)
            // The nonce is known now; the server refuses it, and has no other.
            #expect(await bed.refusal { try await refresh(bed, with: key) }?.error == "use_dpop_nonce")
            #expect(bed.provider.requests(to: .token).count == 3)
        }
    }

    @Test("a nonce may come with any response, and the last one counts")
    func rolledNonce() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { [unowned provider = bed.provider] _ in
                let number = provider.requests(to: .token).count
                return .json(
                    ["access_token": "at", "token_type": "DPoP"], headers: [("DPoP-Nonce", "n-\(number)")])
            }
            let key = try #require(signer.makeKey())
            for _ in 0..<3 { _ = try await refresh(bed, with: key) }
            #expect(try proofs(bed).map { $0.claims["nonce"] } == [nil, "n-1", "n-2"])
        }
    }

    @Test("no other refusal is repeated, and an invalid nonce is not sent back")
    func otherRefusals() async throws {
        try await withProvider { bed async throws in
            let key = try #require(signer.makeKey())
            bed.provider.on(.token) { _ in
                .json(["error": "invalid_dpop_proof"], status: 400, headers: [("DPoP-Nonce", "n")])
            }
            #expect(await bed.refusal { try await refresh(bed, with: key) }?.error == "invalid_dpop_proof")
            #expect(bed.provider.requests(to: .token).count == 1)
            bed.provider.on(.token) { _ in
                .json(
                    ["error": "use_dpop_nonce"], status: 400,
                    headers: [("DPoP-Nonce", String(repeating: "x", count: 1025))])
            }
            _ = await bed.failure { try await refresh(bed, with: key) }
            #expect(try proofs(bed).map { $0.claims["nonce"] } == [nil, "n"])
        }
    }

    @Test("an unrequested bound token is refused, and the caller decides whether Bearer is acceptable")
    func mixedTypes() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { _ in Self.bound }
            #expect(await bed.failure { try await refresh(bed, with: nil) }?.isInvalidResponse == true)
            bed.provider.on(.token) { _ in .json(["access_token": "at", "token_type": "Bearer"]) }
            #expect(try await refresh(bed, with: signer.makeKey()).tokenType == .bearer)
        }
    }
}
