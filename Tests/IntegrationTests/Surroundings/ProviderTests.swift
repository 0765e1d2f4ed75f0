import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The providers' own behavior, on which other tests rely.
@Suite("The providers themselves") struct ProviderTests {
    @Test("glewlwyd refuses a reused refresh token with 400 and an empty body")
    func glewlwydReuse() async throws {
        try await withTestBed { bed in
            let redirectURI = "http://127.0.0.1:7777/callback"
            let provider = try await GlewlwydProvider.start(in: bed, redirectURIs: [redirectURI])
            let client = try await PlainClient(
                provider.clientID, authority: provider.authority, redirectURI: redirectURI, http: HTTPSession(in: bed))
            let redirect = try await provider.signIn(.alice, at: client.authorizationURL())
            #expect(redirect["iss"] == provider.authority)
            let tokens = try await client.redeem(redirect).json().objectValue
            let refreshToken = try #require(tokens?["refresh_token"]?.stringValue)

            try await provider.tune(["access-token-duration": 7])
            let refreshed = try await client.refresh(refreshToken)
            #expect(try refreshed.json().objectValue?["expires_in"] == 7)
            let reused = try await client.refresh(refreshToken)
            #expect(reused.status == 400)
            #expect(reused.body.isEmpty)
        }
    }

    @Test("Django redirects to any loopback port, over TLS, and reports a missing session or denied consent")
    func djangoRedirects() async throws {
        try await withTestBed { bed in
            let certificate = try await TestCertificate.make(in: bed)
            let provider = try await DjangoProvider.start(in: bed, certificate: certificate) { $0.accessLifetime = 7 }
            let port = try FreePort.next()
            let client = try await PlainClient(
                provider.clientID, authority: provider.authority, redirectURI: "http://127.0.0.1:\(port)/callback",
                http: HTTPSession(in: bed, caFile: provider.caFile))
            let silent = try await provider.signIn(nil, at: client.authorizationURL(["prompt": "none"]))
            #expect(silent["error"] == "login_required")
            let denied = try await provider.signIn(.bob, at: client.authorizationURL(), consents: false)
            #expect(denied["error"] == "access_denied")

            let redirect = try await provider.signIn(.alice, at: client.authorizationURL())
            #expect(redirect.url.hasPrefix(client.redirectURI))
            let tokens = try await client.redeem(redirect).json().objectValue
            #expect(tokens?["expires_in"] == 7)
            #expect(provider.tokenRequests == 1)
        }
    }
}
