import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Device authorization (RFC 8628)")
struct DeviceAuthorizationTests {
    private static let complete: JSONObject = [
        "device_code": "dc-1", "user_code": "WDJB-MJHT", "verification_uri": "https://idp.example/device#here",
        "verification_uri_complete": "https://idp.example/device?user_code=WDJB-MJHT", "expires_in": 900,
        "interval": 7, "message": "Open the page and type\nthe code.",
    ]

    private func authorize(
        _ bed: ProviderBed, answered answer: JSONObject, secret: Secret? = nil
    ) async throws -> DeviceAuthorization {
        bed.offerEverything()
        bed.answer(at: .device, .json(.object(answer)))
        return try await bed.oauth.authorizeDevice(
            DeviceAuthorizationRequest(
                scopes: Scopes(["openid", "mail"]), claims: #"{"x":1}"#, resources: ["https://a.example"]),
            as: ClientCredentials(clientID: "tv", secret: secret), at: bed.metadata())
    }

    @Test("the request contains client, scopes, claims and resource, and the whole response is read")
    func complete() async throws {
        try await withProvider { bed async throws in
            let answer = try await authorize(bed, answered: Self.complete)
            #expect(answer.deviceCode == Secret("dc-1"))
            #expect(answer.userCode == "WDJB-MJHT")
            #expect(answer.verificationURI == "https://idp.example/device#here")
            #expect(answer.verificationURIComplete == "https://idp.example/device?user_code=WDJB-MJHT")
            #expect(answer.expiresIn == 900)
            #expect(answer.interval == 7)
            #expect(answer.message == "Open the page and type the code.")
            let form = try #require(bed.requests(to: .device).first).form
            #expect(
                form == [
                    "client_id": "tv", "scope": "openid mail", "claims": #"{"x":1}"#, "resource": "https://a.example",
                ])
        }
    }

    @Test("a confidential client authenticates here, too")
    func confidential() async throws {
        try await withProvider { bed async throws in
            _ = try await authorize(bed, answered: Self.complete, secret: Secret("s"))
            let request = try #require(bed.requests(to: .device).first)
            #expect(request.basicCredentials?.id == "tv")
            #expect(request.form["client_id"] == nil)
        }
    }

    @Test("the interval is 5 seconds if the provider sends none, and never 0")
    func interval() async throws {
        try await withProvider { bed async throws in
            for (given, read) in [(JSONValue?.none, Int64(5)), (0, 1), (-3, 1), ("10", 10)] {
                var answer = Self.complete
                answer["interval"] = given
                #expect(try await authorize(bed, answered: answer).interval == read)
            }
        }
    }

    @Test(
        "a response that a person could not use, or that would mislead them, is refused",
        arguments: [
            ("device_code", JSONValue?.none), ("device_code", ""), ("user_code", nil), ("user_code", ""),
            ("user_code", "a\u{1b}[2Jb"), ("user_code", "line\nbreak"), ("user_code", "\u{202e}abc"),
            ("user_code", .string(String(repeating: "x", count: 65))),
            ("verification_uri", nil), ("verification_uri", "http://idp.example/device"),
            ("verification_uri", "javascript:alert(1)"), ("verification_uri", "https://a@b.example/"),
            ("expires_in", nil), ("expires_in", 0), ("expires_in", -1),
        ])
    func unusable(field: String, value: JSONValue?) async throws {
        try await withProvider { bed async throws in
            var answer = Self.complete
            answer[field] = value
            let failure = await bed.failure { try await authorize(bed, answered: answer) }
            #expect(failure?.isInvalidResponse == true, "\(String(describing: failure))")
        }
    }

    @Test(
        "an invalid complete link, or one with another target than the short one, is left out",
        arguments: [
            "http://idp.example/device?user_code=X", "https://evil.example/device?user_code=X",
            "https://idp.example:8443/device?user_code=X", "https://idp.example/{device}",
        ])
    func unfitCompleteLink(link: String) async throws {
        try await withProvider { bed async throws in
            var answer = Self.complete
            answer["verification_uri_complete"] = .string(link)
            let read = try await authorize(bed, answered: answer)
            #expect(read.verificationURIComplete == nil)
            #expect(read.verificationURI == "https://idp.example/device#here")
        }
    }

    @Test("links contain nothing that a program could read as a variable")
    func variables() async throws {
        try await withProvider { bed async throws in
            var answer = Self.complete
            answer["verification_uri"] = "https://idp.example/$HOME"
            answer["verification_uri_complete"] = "https://idp.example/?$HOME"
            let read = try await authorize(bed, answered: answer)
            #expect(read.verificationURI == "https://idp.example/%24HOME")
            #expect(read.verificationURIComplete == "https://idp.example/?%24HOME")
        }
    }

    @Test("a missing endpoint and an unauthorized client are reported as such")
    func refused() async throws {
        try await withProvider { bed async throws in
            let request = DeviceAuthorizationRequest(scopes: Scopes(["openid"]))
            func authorize() async throws -> DeviceAuthorization {
                try await bed.oauth.authorizeDevice(request, as: .init(clientID: "tv"), at: bed.metadata())
            }
            #expect(await bed.failure(authorize)?.isNotOffered == true)
            bed.offerEverything()
            bed.clock.advance(bySeconds: 3600)
            bed.answer(at: .device, .oauthError("unauthorized_client"))
            #expect(await bed.refusal(authorize)?.error == "unauthorized_client")
            bed.answer(at: .device, .html())
            #expect(await bed.failure(authorize)?.isInvalidResponse == true)
        }
    }

    @Test(
        "the token endpoint's errors while the person has not finished keep their codes",
        arguments: ["authorization_pending", "slow_down", "expired_token", "access_denied"])
    func polling(word: String) async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { _ in .oauthError(word) }
            let refusal = await bed.refusal { try await bed.redeem(.deviceCode(Secret("dc-1"))) }
            #expect(refusal == OAuthRefusal(error: word, status: 400))
            let form = try #require(bed.provider.requests(to: .token).last).form
            #expect(
                form == [
                    "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "dc-1",
                    "client_id": "app",
                ])
        }
    }
}
