import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A hostile issuer names an honest provider's authorization endpoint next to a token endpoint of its own (RFC 9700,
/// section 4.4).
@Suite("Endpoints on other hosts than the issuer's")
struct EndpointHostTests {
    private static let elsewhere = "https://honest.example/authorize"

    /// A provider that does not announce `iss`, with one endpoint elsewhere.
    private func names(
        _ endpoint: String, at url: String = elsewhere, promising: Bool = false, in bed: ProviderBed
    ) {
        bed.provider.configure {
            $0.metadata = [
                endpoint: .string(url),
                "authorization_response_iss_parameter_supported": promising ? true : .null,
            ]
        }
    }

    @Test(
        "without announced iss they are refused with an error that says what to do",
        arguments: ["authorization_endpoint", "token_endpoint"])
    func refused(endpoint: String) async throws {
        try await withProvider { bed async throws in
            names(endpoint, in: bed)
            let (status, text) = try #require(await bed.failure { try await bed.metadata() }?.violation)
            #expect(status == nil)
            #expect(text.contains(Self.elsewhere))
            #expect(text.contains("name it in the provider's table of the configuration: \(endpoint) ="))
        }
    }

    @Test("another port counts as another host")
    func otherPort() async throws {
        try await withProvider { bed async throws in
            names("authorization_endpoint", at: "http://127.0.0.1:1/authorize", in: bed)
            #expect(await bed.failure { try await bed.metadata() }?.isInvalidResponse == true)
        }
    }

    @Test("with announced iss they are accepted, and a response of another issuer is refused later")
    func promised() async throws {
        try await withProvider { bed async throws in
            names("authorization_endpoint", promising: true, in: bed)
            #expect(try await bed.metadata().authorizationEndpoint == Self.elsewhere)
        }
    }

    @Test("only hosts that the administrator names are accepted")
    func named() async throws {
        try await withProvider { bed async throws in
            names("authorization_endpoint", in: bed)
            var completion = MetadataOverride()
            completion.endpoints = ["authorization_endpoint": Self.elsewhere]
            bed.oauth.apply(MetadataOverrides([bed.provider.issuer: completion]))
            #expect(try await bed.metadata().authorizationEndpoint == Self.elsewhere)
            completion.endpoints = ["revocation_endpoint": Self.elsewhere]
            bed.oauth.apply(MetadataOverrides([bed.provider.issuer: completion]))
            #expect(await bed.failure { try await bed.metadata() }?.isInvalidResponse == true)
        }
    }

    @Test("a device code is not requested at one host and redeemed at another, even with announced iss")
    func device() async throws {
        try await withProvider { bed async throws in
            names("device_authorization_endpoint", promising: true, in: bed)
            #expect(try await bed.metadata().deviceAuthorizationEndpoint == nil)
            let own = bed.provider.issuer + "/device"
            bed.provider.configure { $0.metadata["device_authorization_endpoint"] = .string(own) }
            bed.clock.advance(bySeconds: 4000)
            #expect(try await bed.metadata().deviceAuthorizationEndpoint == own)
        }
    }

    @Test("no client is registered at one provider for another, even with announced iss")
    func registration() async throws {
        try await withProvider { bed async throws in
            names("registration_endpoint", at: "https://honest.example/register", promising: true, in: bed)
            #expect(try await bed.metadata().registrationEndpoint == nil)
            let own = bed.provider.issuer + "/register"
            bed.provider.configure { $0.metadata["registration_endpoint"] = .string(own) }
            bed.clock.advance(bySeconds: 4000)
            #expect(try await bed.metadata().registrationEndpoint == own)
        }
    }

    @Test(
        "known providers may have endpoints on known hosts",
        arguments: [
            ("accounts.google.com", "oauth2.googleapis.com"), ("access.line.me", "api.line.me"),
            ("cognito-idp.eu-west-1.amazonaws.com", "shop.auth.eu-west-1.amazoncognito.com"),
            ("issuer-cognito-idp.eu-west-1.amazonaws.com", "shop.auth.eu-west-1.amazoncognito.com"),
            ("contoso.ciamlogin.com", "aaaabbbb-0000-cccc-1111-dddd2222eeee.ciamlogin.com"),
        ])
    func known(issuer: String, host: String) {
        #expect(KnownProviders.uses(host, at: issuer))
        #expect(!KnownProviders.uses(host, at: "evil.example"))
        #expect(!KnownProviders.uses("evil.example", at: issuer))
        #expect(!KnownProviders.uses(host + ".evil.example", at: issuer))
        #expect(!KnownProviders.uses(host, at: issuer + ".evil.example"))
    }

    @Test(
        "a user pool's domain is one label in its own region",
        arguments: ["cognito-idp.eu-west-1.amazonaws.com", "issuer-cognito-idp.eu-west-1.amazonaws.com"])
    func regions(issuer: String) {
        for host in [
            "shop.auth.us-east-1.amazoncognito.com", "a.b.auth.eu-west-1.amazoncognito.com",
            "auth.eu-west-1.amazoncognito.com", ".auth.eu-west-1.amazoncognito.com",
        ] {
            #expect(!KnownProviders.uses(host, at: issuer))
        }
    }

    @Test("docs/compatibility.md lists the table of known hosts")
    func documented() throws {
        let text = try PackageTree.text("docs/compatibility.md")
        for entry in KnownProviders.all {
            let hosts = entry.endpoints.map { "`\($0)`" }.joined(separator: ", ")
            #expect(text.contains("| `\(entry.issuer)` | \(hosts) |"))
        }
    }
}
