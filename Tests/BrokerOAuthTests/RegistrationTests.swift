import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Dynamic client registration (RFC 7591)")
struct RegistrationTests {
    private func register(
        _ bed: ProviderBed, confidential: Bool = false, token: Secret? = nil
    ) async throws -> RegisteredClient {
        try await bed.oauth.register(
            ClientRegistrationRequest(
                clientName: "Mail \"α\"", redirectURIs: ["http://127.0.0.1"], scopes: Scopes(["openid", "mail"]),
                isConfidential: confidential, initialAccessToken: token),
            at: bed.metadata())
    }

    private func sent(_ bed: ProviderBed) throws -> JSONObject {
        let request = try #require(bed.requests(to: .registration).last)
        #expect(request.headers["content-type"] == "application/json")
        return try JSONDecoder().decode(JSONObject.self, from: Data(request.body))
    }

    @Test("a public native client is requested with the grants that the provider has")
    func publicClient() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(at: .registration, .json(["client_id": "c-1"], status: 201))
            let client = try await register(bed)
            #expect(client.clientID == "c-1")
            #expect(client.clientSecret == nil)
            #expect(
                try sent(bed) == [
                    "application_type": "native", "client_name": "Mail \"α\"", "redirect_uris": ["http://127.0.0.1"],
                    "grant_types": [
                        "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code",
                    ],
                    "response_types": ["code"], "token_endpoint_auth_method": "none", "scope": "openid mail",
                ])
            #expect(bed.requests(to: .registration).last?.headers["authorization"] == nil)
        }
    }

    @Test("a confidential client gets a secret and its expiry, and the initial token is sent as Bearer")
    func confidentialClient() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.provider.configure {
                $0.metadata["device_authorization_endpoint"] = nil
                $0.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
            }
            bed.answer(
                at: .registration,
                .json(
                    ["client_id": "c-2", "client_secret": "s-2", "client_secret_expires_at": 1_900_000_000], status: 201
                ))
            let client = try await register(bed, confidential: true, token: Secret("iat"))
            #expect(client.clientSecret == Secret("s-2"))
            #expect(client.clientSecretExpiresOn == 1_900_000_000)
            let document = try sent(bed)
            #expect(document["token_endpoint_auth_method"] == "client_secret_post")
            #expect(document["grant_types"] == ["authorization_code", "refresh_token"])
            #expect(bed.requests(to: .registration).last?.headers["authorization"] == "Bearer iat")
        }
    }

    @Test("an expiry of 0 means that a secret never expires")
    func endlessSecret() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(
                at: .registration,
                .json(["client_id": "c", "client_secret": "s", "client_secret_expires_at": 0], status: 201))
            #expect(try await register(bed, confidential: true).clientSecretExpiresOn == nil)
        }
    }

    @Test(
        "a client that the broker cannot use is refused",
        arguments: [
            (["x": 1], false), (["client_id": ""], false), (["client_id": "a\nb"], false), (["client_id": "c"], true),
            (["client_id": "c", "token_endpoint_auth_method": "private_key_jwt"], false),
        ] as [(JSONObject, Bool)])
    func unusable(answer: JSONObject, confidential: Bool) async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(at: .registration, .json(.object(answer), status: 201))
            let failure = await bed.failure { try await register(bed, confidential: confidential) }
            #expect(failure?.isInvalidResponse == true, "\(String(describing: failure))")
        }
    }

    @Test(
        "the client's registered authentication method is used",
        arguments: [
            (nil, "s", nil), ("client_secret_basic", "s", .basic), ("client_secret_post", "s", .post),
            ("none", nil, nil), ("client_secret_post", nil, nil),
        ] as [(String?, String?, ClientSecretMethod?)])
    func registeredMethod(name: String?, secret: String?, method: ClientSecretMethod?) async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            var answer: JSONObject = ["client_id": "c"]
            answer["client_secret"] = secret.map(JSONValue.string) ?? (name == "none" ? "s" : nil)
            answer["token_endpoint_auth_method"] = name.map(JSONValue.string)
            bed.answer(at: .registration, .json(.object(answer), status: 201))
            let client = try await register(bed)
            #expect(client.clientSecret == secret.map { Secret($0) })
            #expect(client.secretMethod == method)
            guard name == "none" else { return }
            let failure = await bed.failure { try await register(bed, confidential: true) }
            #expect(failure?.isInvalidResponse == true, "it is no confidential client")
        }
    }

    @Test("an unauthorized registration and an invalid one are distinguished, and need an endpoint")
    func refused() async throws {
        try await withProvider { bed async throws in
            #expect(await bed.failure { try await register(bed) }?.isNotOffered == true)
            bed.offerEverything()
            bed.clock.advance(bySeconds: 3600)
            bed.answer(at: .registration, .empty(401))
            #expect(await bed.refusal { try await register(bed) }?.error == "invalid_token")
            bed.answer(at: .registration, .oauthError("invalid_redirect_uri"))
            #expect(await bed.refusal { try await register(bed) }?.error == "invalid_redirect_uri")
        }
    }

    @Test("a provider that refuses the client because of the device grant is asked once more without it")
    func withoutDeviceGrant() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.provider.on(path: OptionalEndpoint.registration.path) { request in
                String(decoding: request.body, as: UTF8.self).contains("device_code")
                    ? .oauthError("invalid_client_metadata") : .json(["client_id": "c-3"], status: 201)
            }
            #expect(try await register(bed).clientID == "c-3")
            let asked = try bed.requests(to: .registration).map {
                try JSONDecoder().decode(JSONObject.self, from: Data($0.body))
            }
            #expect(asked.count == 2)
            #expect(asked.first?["grant_types"]?.arrayValue?.count == 3)
            #expect(asked.last?["grant_types"] == ["authorization_code", "refresh_token"])
            // Nothing else is left out.
            var (first, last) = (asked.first, asked.last)
            first?["grant_types"] = nil
            last?["grant_types"] = nil
            #expect(first == last)
        }
    }

    @Test("a registration that is refused for another reason is requested once")
    func onlyForDeviceGrant() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(at: .registration, .oauthError("invalid_redirect_uri"))
            #expect(await bed.refusal { try await register(bed) }?.error == "invalid_redirect_uri")
            #expect(bed.requests(to: .registration).count == 1)
            // Refused for another reason the second time: there is no third attempt.
            bed.answer(at: .registration, .oauthError("invalid_client_metadata"))
            #expect(await bed.refusal { try await register(bed) }?.error == "invalid_client_metadata")
            #expect(bed.requests(to: .registration).count == 3)

            bed.provider.configure { $0.metadata["device_authorization_endpoint"] = nil }
            bed.clock.advance(bySeconds: 3600)
            #expect(await bed.refusal { try await register(bed) }?.error == "invalid_client_metadata")
            #expect(bed.requests(to: .registration).count == 4)
        }
    }

    @Test("a provider without client secrets is not asked for a client with one")
    func noSecrets() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.provider.configure { $0.metadata["token_endpoint_auth_methods_supported"] = ["none"] }
            #expect(await bed.failure { try await register(bed, confidential: true) }?.isNotOffered == true)
            #expect(bed.requests(to: .registration).isEmpty)
        }
    }
}
