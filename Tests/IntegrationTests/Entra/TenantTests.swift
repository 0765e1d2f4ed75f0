import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("At a provider with tenants", .serialized) struct TenantTests {
    private func profiles(of account: JSONObject?) -> [String] {
        (account?["tenantProfiles"]?.arrayValue ?? []).compactMap { profile in
            guard let profile = profile.objectValue, let tenant = profile["tenantId"]?.stringValue else { return nil }
            return tenant + (profile["isHomeTenant"] == true ? " home" : " guest")
        }
    }

    @Test("a sign-in on common is stored under the home tenant, and silent requests go there")
    func homeTenant() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed)
            let signIn = try await scene.signIn()
            let account = try #require(signIn.token["account"]?.objectValue)
            #expect(account["tenantId"] == .string(EntraScene.home))
            #expect(account["homeAccountId"]?.stringValue?.hasSuffix("." + EntraScene.home) == true)
            #expect(signIn.token["authority"] == .string(scene.provider.authority(EntraScene.home)))
            #expect(profiles(of: account) == [EntraScene.home + " home"])
            #expect(try await scene.silent()["fromCache"] == true)

            scene.provider.clearLog()
            let refreshed = try await scene.silent(["forceRefresh": true])
            #expect(refreshed["accessToken"] != signIn.token["accessToken"])
            #expect(scene.tokenTenants == [EntraScene.home])
            #expect(try await scene.silent()["accessToken"] == refreshed["accessToken"])
        }
    }

    @Test("a guest gets another tenant's token by the same sign-in, as one account with two profiles")
    func guest() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed)
            let signIn = try await scene.signIn()
            scene.provider.clearLog()
            let elsewhere = scene.at(EntraScene.guest)
            let token = try await scene.silent(elsewhere)
            #expect(scene.tokenTenants == [EntraScene.guest])
            #expect(token["authority"] == .string(scene.provider.authority(EntraScene.guest)))
            #expect(token["account"]?.objectValue?["id"] == .string(signIn.accountID))
            #expect(token["account"]?.objectValue?["tenantId"] == .string(EntraScene.home))

            // Both are in the cache, each under its tenant.
            #expect(try await scene.silent(elsewhere)["accessToken"] == token["accessToken"])
            #expect(try await scene.silent()["accessToken"] == signIn.token["accessToken"])
            #expect(scene.tokenTenants.count == 1)
            let accounts = try await scene.accounts()
            #expect(accounts.count == 1)
            #expect(profiles(of: accounts.first) == [EntraScene.home + " home", EntraScene.guest + " guest"])

            _ = try await scene.broker.call(
                "accounts.remove", ["app": "notes", "account": ["id": .string(signIn.accountID)]])
            #expect(try await scene.accounts().isEmpty)
        }
    }

    @Test("a tenant named by its domain is found in the cache by that name")
    func domain() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed, at: EntraDirectory.alpha.domain)
            let signIn = try await scene.signIn()
            #expect(signIn.token["account"]?.objectValue?["tenantId"] == .string(EntraScene.home))
            #expect(try await scene.silent()["fromCache"] == true)
            let byID = scene.at(EntraScene.home)
            #expect(try await scene.silent(byID)["accessToken"] == signIn.token["accessToken"])
        }
    }

    @Test("an authority of another kind or cloud is refused for one request")
    func otherCloud() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed)
            _ = try await scene.signIn()
            for authority in ["https://login.microsoftonline.com/common", "https://id.example"] {
                let refusal = await #expect(throws: Refusal.self) {
                    try await scene.silent(["authority": .string(authority)])
                }
                #expect(refusal?.kind == "invalidAuthority")
            }
        }
    }

    @Test("after a restart without network tokens come from the cache, and a refresh says offline")
    func offline() async throws {
        try await withTestBed { bed in
            var scene = try await EntraScene.make(in: bed)
            let signIn = try await scene.signIn()
            await scene.provider.stop()
            try await scene.restart()
            #expect(try await scene.silent()["accessToken"] == signIn.token["accessToken"])
            let refusal = await #expect(throws: Refusal.self) { try await scene.silent(["forceRefresh": true]) }
            #expect(refusal?.kind == "offline")
        }
    }

    @Test(
        "a refusal by another tenant ends the use there, and neither the sign-in nor its home tokens",
        arguments: [(50020, nil, "notInTenant"), (50057, nil, "notInTenant"), (50173, "bad_token", "loginRequired")])
    func refusedByAnotherTenant(number: Int, subError: String?, reason: String) async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed)
            _ = try await scene.signIn()
            scene.provider.add(.refuse(number: number, subError: subError, tenant: EntraScene.guest, times: 0))
            let refusal = await #expect(throws: Refusal.self) { try await scene.silent(scene.at(EntraScene.guest)) }
            #expect(refusal?.data["reason"] == .string(reason))
            _ = try await scene.silent(["forceRefresh": true])
        }
    }

    @Test("a refusal of one app's permissions ends no other app's sign-in", arguments: [50105, 53000, 90094])
    func refusedForOneUse(number: Int) async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed)
            _ = try await scene.signIn()
            scene.provider.add(.refuse(number: number))
            let refusal = await #expect(throws: Refusal.self) {
                try await scene.broker.acquireSilent(app: "notes", scopes: ["api://other/do"], [:])
            }
            #expect(refusal?.kind == "interactionRequired")
            _ = try await scene.silent(["forceRefresh": true])
        }
    }
}
