import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Microsoft's msal at the Entra flavor", .serialized)
struct MSALTests {
    @Test("MSAL signs a person in, refreshes an expiring token, and finds its family's refresh token")
    func code() async throws {
        try await withEntra({ $0.policy.accessTokenLifetime = 200 }) { scene async throws in
            let msal = MSALClient(at: scene.provider, in: scene.bed)
            let first = try await msal.signIn(.alice, scopes: [graph])
            #expect(first["error"] == nil)
            let account = try #require(first["accounts"]?.arrayValue?.first?.objectValue)
            #expect(account["username"] == "alice@alpha.test")
            #expect(account["home_account_id"]?.stringValue?.hasSuffix(EntraDirectory.alpha.id) == true)
            #expect(try await msal.silent(scopes: [graph])["token_source"] == "identity_provider")
            #expect(scene.provider.refreshes == 1)
            #expect(try await msal.silent(client: "demo-two", scopes: ["api://app/read"])["foci"] == "1")
            let kept = try msal.cache()
            #expect(kept["RefreshToken"]?.objectValue?.isEmpty == false)
            #expect(kept["AppMetadata"]?.objectValue?.values.contains { $0.objectValue?["family_id"] == "1" } == true)
        }
    }

    @Test("MSAL signs a device in, and takes a long-lived token from its cache afterwards")
    func device() async throws {
        try await withEntra({ $0.policy.devicePollInterval = 1 }) { scene async throws in
            let msal = MSALClient(at: scene.provider, in: scene.bed)
            let answer = try await msal.signInDevice(carol, client: "demo-other", scopes: ["User.Read"])
            #expect(answer["error"] == nil)
            #expect(answer["id_token_claims"]?.objectValue?["tid"]?.stringValue == EntraDirectory.consumers.id)
            let again = try await msal.silent(client: "demo-other", scopes: ["User.Read"])
            #expect(again["token_source"] == "cache")
            #expect(scene.provider.refreshes == 0)
        }
    }

    @Test("MSAL understands the provider's refusals")
    func refusal() async throws {
        try await withEntra({ $0.policy.accessTokenLifetime = 200 }) { scene async throws in
            let msal = MSALClient(at: scene.provider, in: scene.bed)
            _ = try await msal.signIn(.alice, client: "demo-other", scopes: [graph])
            scene.provider.revokeAllGrants()
            let refused = try await msal.silent(client: "demo-other", scopes: [graph])
            #expect(refused["error"] == "invalid_grant")
            #expect(refused["error_codes"] == [50173])
        }
    }

    @Test("MSAL receives a whole claims challenge, and the sign-in with the claims meets it")
    func challenge() async throws {
        try await withEntra({ $0.policy.accessTokenLifetime = 200 }) { scene async throws in
            var msal = MSALClient(at: scene.provider, in: scene.bed)
            _ = try await msal.signIn(.alice, scopes: [graph])
            try scene.provider.requireClaims(#"{"access_token":{"polids":{"essential":true,"values":["one"]}}}"#)
            let refused = try await msal.silent(scopes: [graph])
            #expect(refused["error"] == "interaction_required")
            #expect(refused["error_codes"]?.arrayValue?.count == 1)
            for member in ["suberror", "correlation_id", "timestamp", "trace_id"] {
                #expect(refused[member]?.stringValue?.isEmpty == false, "\(member) is missing")
            }
            let claims = try #require(refused["claims"]?.stringValue)
            msal.options = ["--claims", claims]
            #expect(try await msal.signIn(.alice, scopes: [graph])["error"] == nil)
            #expect(scene.provider.log.contains { $0.endpoint == .authorize && $0.claims?.contains("polids") == true })
            msal.options = []
            #expect(try await msal.silent(scopes: [graph])["token_source"] == "identity_provider")
        }
    }

    @Test("MSAL sends its capabilities with each refresh, which avoids a challenge")
    func capabilities() async throws {
        try await withEntra({ $0.policy.accessTokenLifetime = 200 }) { scene async throws in
            var msal = MSALClient(at: scene.provider, in: scene.bed)
            _ = try await msal.signIn(.alice, scopes: [graph])
            try scene.provider.requireClaims(#"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
            #expect(try await msal.silent(scopes: [graph])["error"] == "interaction_required")
            msal.options = ["--capability", "cp1"]
            #expect(try await msal.silent(scopes: [graph])["token_source"] == "identity_provider")
        }
    }

    @Test("MSAL requests the hosts of a cloud, and accepts no authority at a host outside any cloud")
    func instanceDiscovery() async throws {
        try await withEntra { scene async throws in
            var msal = MSALClient(at: scene.provider, in: scene.bed)
            msal.options = ["--instance-discovery"]
            #expect(try await msal.signIn(.alice, scopes: [graph])["error"] == nil)
            // The hosts of the cloud, then the tenant's metadata.
            #expect(scene.provider.log.count { $0.endpoint == .discovery && $0.status == 200 } >= 2)
            #expect(try await msal.silent(scopes: [graph])["token_source"] == "cache")
            msal.options += ["--host", "unknown.test"]
            let refused = try await msal.silent(scopes: [graph])
            #expect(refused["error_description"]?.stringValue?.hasPrefix("invalid_instance") == true)
            #expect(scene.provider.log.contains { $0.endpoint == .discovery && $0.status == 400 })
        }
    }

    @Test("MSAL understands that the person declined on the other device")
    func declined() async throws {
        try await withEntra({ $0.policy.devicePollInterval = 1 }) { scene async throws in
            var msal = MSALClient(at: scene.provider, in: scene.bed)
            msal.options = ["--deny"]
            let refused = try await msal.signInDevice(.alice, scopes: [graph])
            #expect(refused["error"] == "authorization_declined")
            #expect(refused["error_codes"] == [70018])
        }
    }
}
