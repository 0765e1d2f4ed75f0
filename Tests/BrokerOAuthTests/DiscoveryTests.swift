import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Discovery")
struct DiscoveryTests {
    @Test("a document gives issuer, endpoints and the provider's capabilities")
    func complete() async throws {
        try await withProvider { bed async throws in
            let metadata = try await bed.metadata()
            let issuer = bed.provider.issuer
            #expect(metadata.issuer == issuer)
            #expect(metadata.authorizationEndpoint == issuer + "/authorize")
            #expect(metadata.tokenEndpoint == issuer + "/token")
            #expect(metadata.jwksURI == issuer + "/jwks")
            #expect(metadata.userinfoEndpoint == issuer + "/userinfo")
            #expect(metadata.promisesIssuerInResponse)
            #expect(metadata.tokenEndpointAuthMethods == ["none", "client_secret_basic", "client_secret_post"])
            #expect(metadata.idTokenAlgorithms == ["ES256"])
        }
    }

    @Test("a trailing slash of the issuer is kept and does not make another issuer")
    func trailingSlash() async throws {
        try await withProvider { bed async throws in
            let issuer = bed.provider.issuer + "/"
            bed.provider.configure { $0.metadata = ["issuer": .string(issuer)] }
            #expect(try await bed.metadata().issuer == issuer)
        }
    }

    @Test("a document of another issuer is refused with an error that names that issuer")
    func otherIssuer() async throws {
        try await withProvider { bed async throws in
            bed.provider.configure { $0.metadata = ["issuer": "https://evil.example/\u{1b}[31m"] }
            let text = try #require(await bed.failure { try await bed.metadata() }?.violation).text
            #expect(text.contains("https://evil.example/ [31m"))
        }
    }

    @Test(
        "an issuer that only looks similar is refused",
        arguments: ["", "/tenant", "?x", "#", ".example", "/%2e", "//x"])
    func similarIssuer(suffix: String) async throws {
        try await withProvider { bed async throws in
            let issuer = suffix.isEmpty ? "" : bed.provider.issuer + suffix
            bed.provider.configure { $0.metadata = ["issuer": .string(issuer)] }
            #expect(await bed.failure { try await bed.metadata() }?.isInvalidResponse == true)
        }
    }

    @Test(
        "a missing or invalid required endpoint is an error that names it",
        arguments: ["authorization_endpoint", "token_endpoint", "jwks_uri", "issuer"],
        [
            JSONValue.null, 5, "", "http://idp.example/x", "http://idp.localhost/x", "ftp://127.0.0.1/x", "/relative",
            "https://idp.example/x#f",
        ])
    func unfitEndpoint(name: String, value: JSONValue) async throws {
        try await withProvider { bed async throws in
            bed.provider.configure { $0.metadata = [name: value] }
            let text = try #require(await bed.failure { try await bed.metadata() }?.violation).text
            #expect(text.contains(name) || name == "issuer")
        }
    }

    @Test("an invalid optional endpoint is not used")
    func unfitOptionalEndpoint() async throws {
        try await withProvider { bed async throws in
            bed.provider.configure { $0.metadata = ["userinfo_endpoint": "http://idp.example/userinfo"] }
            #expect(try await bed.metadata().userinfoEndpoint == nil)
        }
    }

    @Test("without the OpenID document the one of RFC 8414 is used, and the first is not requested again")
    func authorizationServerMetadata() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { _ in .empty(404) }
            bed.provider.on(.authorizationServerMetadata) { _ in .json(.object(bed.provider.discoveryDocument)) }
            #expect(try await bed.metadata().issuer == bed.provider.issuer)
            bed.clock.advance(bySeconds: 4000)
            #expect(try await bed.metadata().issuer == bed.provider.issuer)
            #expect(bed.provider.requests(to: .discovery).count == 1)
            #expect(bed.provider.requests(to: .authorizationServerMetadata).count == 2)
        }
    }

    @Test(
        "any response that is not a document leads to the one of RFC 8414",
        arguments: [
            ProviderAnswer.empty(400), .empty(401), .html(status: 403), .empty(405), .empty(410), .html(),
            .redirect(to: "/login"), .json(["not", "an object"]),
        ])
    func otherAnswersThanNotFound(answer: ProviderAnswer) async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { _ in answer }
            bed.provider.on(.authorizationServerMetadata) { _ in .json(.object(bed.provider.discoveryDocument)) }
            #expect(try await bed.metadata().issuer == bed.provider.issuer)
        }
    }

    @Test("an unavailable provider and a document of another issuer do not lead to another document")
    func nothingElsewhere() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.authorizationServerMetadata) { _ in .json(.object(bed.provider.discoveryDocument)) }
            for answer in [ProviderAnswer.empty(503), .empty(429), .json(["issuer": "https://evil.example"])] {
                bed.provider.on(.discovery) { _ in answer }
                #expect(await bed.failure { try await bed.metadata() } != nil)
            }
            #expect(bed.provider.requests(to: .authorizationServerMetadata).isEmpty)
        }
    }

    @Test(
        "a redirect of a document to another path of its server is followed, one to another server is not",
        arguments: [301, 302, 307, 308])
    func redirected(status: Int) async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.authorizationServerMetadata) { _ in .json(.object(bed.provider.discoveryDocument)) }
            let issuer = bed.provider.issuer
            for place in [
                "/.well-known/oauth-authorization-server", issuer + "/.well-known/oauth-authorization-server",
            ] {
                bed.provider.on(.discovery) { _ in
                    ProviderAnswer(status: status, headers: [("Location", place)], body: [])
                }
                #expect(try await bed.metadata().issuer == issuer)
            }
        }
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { _ in .redirect(to: "https://other.example/realm") }
            let (status, text) = try #require(await bed.failure { try await bed.metadata() }?.violation)
            #expect(status == 302)
            #expect(text.contains("https://other.example/realm") && text.contains("authority"))
        }
    }

    @Test("the well-known path follows the host for RFC 8414, and the issuer's path for OpenID")
    func wellKnownPlaces() async throws {
        try await withProvider { bed async throws in
            let authority = try Authority(parsing: bed.provider.issuer + "/realm/one", allowHTTPLoopback: true)
            let failure = await bed.failure { try await bed.oauth.metadata(of: authority) }
            #expect(failure?.withoutText == .invalidResponse(status: 404, ""))
            #expect(
                bed.provider.requests.map(\.path) == [
                    "/realm/one/.well-known/openid-configuration",
                    "/.well-known/oauth-authorization-server/realm/one",
                ])
        }
    }

    @Test(
        "an error for an invalid discovery document describes the response",
        arguments: [
            (ProviderAnswer.html(), Optional(200)), (.html(status: 403), 403), (.redirect(to: "/x"), 404),
            (.redirect(to: "https://other.example/x"), 302), (.redirect(to: "x"), 302),
            (.json(["not", "an object"]), 200), (.empty(200), 200),
            (.json(.object(["issuer": 1])), nil),
        ])
    func wrongForm(answer: ProviderAnswer, status: Int?) async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { _ in answer }
            let (found, text) = try #require(await bed.failure { try await bed.metadata() }?.violation)
            #expect(found == status)
            #expect(text.hasSuffix("."))
        }
    }

    @Test("an unavailable provider is reported with its Retry-After")
    func unavailable() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { _ in .empty(503, headers: [("Retry-After", "17")]) }
            #expect(
                await bed.failure { try await bed.metadata() }?.withoutText
                    == .unavailable(status: 503, retryAfter: 17, ""))
        }
    }

    @Test("a lost response to a repeatable request is reported as offline")
    func offline() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { _ in .reset }
            #expect(await bed.failure { try await bed.metadata() }?.withoutText == .offline(""))
        }
    }
}

@Suite("Cached provider documents")
struct DocumentCacheTests {
    @Test("a document is fetched once in its lifetime, which is a minute to a day and an hour by default")
    func lifetime() async throws {
        for (cacheControl, seconds) in [
            (nil, 3600), ("max-age=600", 600), ("public, MAX-AGE = \"600\"", 600), ("max-age=0", 60), ("no-store", 60),
            ("max-age=99999999", 86_400), ("max-age=x", 3600),
        ] as [(String?, Int64)] {
            try await withProvider { bed async throws in
                bed.provider.on(.discovery) { _ in
                    .json(
                        .object(bed.provider.discoveryDocument),
                        headers: cacheControl.map { [("Cache-Control", $0)] } ?? [])
                }
                _ = try await bed.metadata()
                bed.clock.advance(bySeconds: seconds - 1)
                _ = try await bed.metadata()
                #expect(bed.provider.requests.count == 1)
                bed.clock.advance(bySeconds: 1)
                _ = try await bed.metadata()
                #expect(bed.provider.requests.count == 2)
            }
        }
    }

    @Test("a jump of the wall clock makes no document stale")
    func wallClock() async throws {
        try await withProvider { bed async throws in
            _ = try await bed.metadata()
            bed.clock.setWallClock(bySeconds: 1_000_000)
            _ = try await bed.metadata()
            #expect(bed.provider.requests.count == 1)
        }
    }

    @Test("a stale document is confirmed by its validators without being sent again")
    func revalidation() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.discovery) { request in
                if request.headers["if-none-match"] == "\"v1\"" { return .empty(304) }
                return .json(.object(bed.provider.discoveryDocument), headers: [("ETag", "\"v1\"")])
            }
            let first = try await bed.metadata()
            bed.clock.advance(bySeconds: 3600)
            #expect(try await bed.metadata() == first)
            bed.clock.advance(bySeconds: 3599)
            #expect(try await bed.metadata() == first)
            #expect(bed.provider.requests.count == 2)
        }
    }

    @Test(
        "a stale document is used while the provider is down, with a pause between requests",
        arguments: [
            ProviderAnswer.empty(500), .html(), .reset, .hang, .json(.object(["issuer": "https://evil.example"])),
        ])
    func stale(answer: ProviderAnswer) async throws {
        try await withProvider(timeout: .seconds(5)) { bed async throws in
            let first = try await bed.metadata()
            bed.provider.on(.discovery) { _ in answer }
            bed.clock.advance(bySeconds: 3600)
            let asked = bed.provider.requests.count
            #expect(try await bed.metadata() == first)
            #expect(try await bed.metadata() == first)
            let again = bed.provider.requests.count
            #expect(again > asked)
            bed.clock.advance(bySeconds: 59)
            #expect(try await bed.metadata() == first)
            #expect(bed.provider.requests.count == again)

            bed.provider.behave(at: .discovery)
            bed.clock.advance(bySeconds: 1)
            #expect(try await bed.metadata() == first)
            #expect(bed.provider.requests.count == again + 1)
        }
    }

    @Test("a document that the provider removed is no longer used")
    func gone() async throws {
        try await withProvider { bed async throws in
            _ = try await bed.metadata()
            bed.provider.on(.discovery) { _ in .empty(404) }
            bed.clock.advance(bySeconds: 3600)
            #expect(await bed.failure { try await bed.metadata() }?.withoutText == .invalidResponse(status: 404, ""))
        }
    }

    @Test("many concurrent callers cause one request")
    func singleFlight() async throws {
        try await withProvider { bed async throws in
            let gate = Gate()
            bed.provider.on(.discovery) { _ in
                await gate.wait()
                return nil
            }
            let callers = (0..<50).map { _ in Task { try await bed.metadata().issuer } }
            try await eventually("the provider is asked") { !bed.provider.requests.isEmpty }
            gate.open()
            for caller in callers {
                let issuer = try await caller.value
                #expect(issuer == bed.provider.issuer)
            }
            #expect(bed.provider.requests.count == 1)
        }
    }

    @Test("a cancelled caller returns at once and does not affect the others")
    func leavingCaller() async throws {
        try await withProvider { bed async throws in
            let gate = Gate()
            bed.provider.on(.discovery) { _ in
                await gate.wait()
                return nil
            }
            let leaving = Task { await bed.failure { try await bed.metadata() } }
            try await eventually("the provider is asked") { !bed.provider.requests.isEmpty }
            let staying = Task { try await bed.metadata().issuer }
            leaving.cancel()
            #expect(await leaving.value?.withoutText == .offline(""))
            gate.open()
            #expect(try await staying.value == bed.provider.issuer)
            #expect(bed.provider.requests.count == 1)
        }
    }
}
