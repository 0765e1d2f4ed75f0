import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// Carol has a personal account there.
let carol = Person(name: "carol", password: "carol-pw-1")
let graph = "https://graph.microsoft.com/User.Read"

/// A provider with tenants, and a client of one of them.
struct EntraScene {
    let provider: RunningProvider
    let bed: TestBed
    let browser: HTTPSession

    func client(_ tenant: String = "common", id: String = "demo-one") async throws -> PlainClient {
        try await PlainClient(
            id, authority: provider.authority(tenant) + "/v2.0", redirectURI: "http://localhost:9/", http: browser)
    }

    func signIn(
        _ person: Person = .alice, tenant: String = "common", id: String = "demo-one",
        scope: String = "openid profile offline_access " + graph, _ more: [String: String] = [:]
    ) async throws -> ProviderRedirect {
        let url = try await client(tenant, id: id).authorizationURL(["scope": scope].merging(more) { $1 })
        return try await provider.signIn(person, at: url, in: bed)
    }

    /// A token request with `client_info=1`, as from Entra's clients.
    func ask(_ fields: [String: String], tenant: String = "common", headers: [String: String] = [:]) async throws
        -> HTTPReply
    {
        let all = ["client_info": "1", "client_id": "demo-one"].merging(fields) { $1 }
        return try await browser.send(
            "POST", provider.authority(tenant) + "/oauth2/v2.0/token",
            body: .form(all.map { (name: $0.key, value: $0.value) }), headers: headers)
    }

    func redeem(_ redirect: ProviderRedirect, tenant: String = "common", _ more: [String: String] = [:]) async throws
        -> HTTPReply
    {
        let fields = [
            "grant_type": "authorization_code", "code": redirect["code"] ?? "", "redirect_uri": "http://localhost:9/",
            "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        ]
        return try await ask(fields.merging(more) { $1 }, tenant: tenant)
    }

    func refresh(_ token: String?, tenant: String = "common", _ more: [String: String] = [:]) async throws -> HTTPReply
    {
        let fields = ["grant_type": "refresh_token", "refresh_token": token ?? "", "scope": graph + " openid"]
        return try await ask(fields.merging(more) { $1 }, tenant: tenant)
    }
}

func withEntra(
    _ change: (inout ProviderOptions) -> Void = { _ in }, _ body: (EntraScene) async throws -> Void
) async throws {
    var options = ProviderOptions.entra()
    change(&options)
    let chosen = options
    try await withTestBed { bed in
        let provider = try await DevIdentityProvider.start(chosen)
        bed.atEnd { await provider.stop() }
        try await body(EntraScene(provider: provider, bed: bed, browser: HTTPSession(in: bed)))
    }
}

@Suite("Entra's clouds")
struct EntraCloudTests {
    private static let aware = ["instance_aware": "true"]

    private func withTwoClouds(_ body: (_ own: EntraScene, _ other: EntraScene) async throws -> Void) async throws {
        try await withTestBed { bed in
            let other = try await DevIdentityProvider.start(.entra())
            bed.atEnd { await other.stop() }
            var directory = EntraDirectory()
            directory.otherClouds = ["bob": other.origin]
            let own = try await DevIdentityProvider.start(.entra(directory))
            bed.atEnd { await own.stop() }
            func scene(_ provider: RunningProvider) -> EntraScene {
                EntraScene(provider: provider, bed: bed, browser: HTTPSession(in: bed))
            }
            try await body(scene(own), scene(other))
        }
    }

    @Test("only a request with instance_aware gets the host of the cloud")
    func ownHost() async throws {
        try await withTwoClouds { own, _ in
            let redirect = try await own.signIn(.alice, Self.aware)
            #expect(redirect["cloud_instance_host_name"] == "127.0.0.1:\(own.provider.port)")
            #expect(redirect["code"] != nil)
            #expect(try await own.signIn()["cloud_instance_host_name"] == nil)
        }
    }

    @Test("a person of another cloud is sent there with the whole request, and that cloud names itself")
    func elsewhere() async throws {
        try await withTwoClouds { own, other in
            let onward = try await own.signIn(.bob, Self.aware)
            #expect(onward.url.hasPrefix("\(other.provider.origin)/common/oauth2/v2.0/authorize?"))
            #expect(onward["code"] == nil && onward["code_challenge"] != nil && onward["state"] != nil)
            let redirect = try await other.provider.signIn(.bob, at: onward.url, in: other.bed)
            #expect(redirect["cloud_instance_host_name"] == "127.0.0.1:\(other.provider.port)")
            #expect(redirect["code"] != nil)
        }
    }

    @Test("a client without instance_aware cannot sign in a person of another cloud")
    func unasked() async throws {
        try await withTwoClouds { own, _ in
            // The page says so and remains: the flow does not end.
            await #expect(throws: (any Error).self) { try await own.signIn(.bob) }
        }
    }
}

@Suite("The Entra flavor of the development provider")
struct EntraTests {
    private let alpha = EntraDirectory.alpha
    private let beta = EntraDirectory.beta
    private let consumers = EntraDirectory.consumers

    @Test("a shared authority's issuer is a template, a tenant's is its own, and domains are aliases of ids")
    func discovery() async throws {
        try await withEntra { scene async throws in
            func document(_ tenant: String) async throws -> (Int, JSONObject) {
                let reply = try await scene.browser.get(
                    scene.provider.authority(tenant) + "/v2.0/.well-known/openid-configuration")
                return (reply.status, try reply.json().objectValue ?? [:])
            }
            let origin = scene.provider.origin
            for shared in ["common", "organizations"] {
                let (_, found) = try await document(shared)
                #expect(found["issuer"]?.stringValue == "\(origin)/{tenantid}/v2.0")
                #expect(found["token_endpoint"]?.stringValue == "\(origin)/\(shared)/oauth2/v2.0/token")
                #expect(found["jwks_uri"]?.stringValue == "\(origin)/common/discovery/v2.0/keys")
            }
            let byDomain = try await document(beta.domain).1
            #expect(byDomain["issuer"]?.stringValue == "\(origin)/\(beta.id)/v2.0")
            #expect(byDomain == (try await document(beta.id).1))
            #expect(try await document("consumers").1["issuer"]?.stringValue == "\(origin)/\(consumers.id)/v2.0")
            let (status, unknown) = try await document("nowhere.test")
            #expect(status == 400)
            #expect(unknown["error"] == "invalid_tenant")
            #expect(unknown["error_codes"] == [90002])
        }
    }

    @Test("instance discovery lists the aliases of its own host, and refuses others")
    func instances() async throws {
        try await withEntra { scene async throws in
            let url = scene.provider.origin + "/common/discovery/instance?api-version=1.1&authorization_endpoint="
            let own = try await scene.browser.get(
                url + "\(scene.provider.origin)/\(alpha.id)/oauth2/v2.0/authorize".urlEncoded)
            let answer = try #require(try own.json().objectValue)
            #expect(answer["tenant_discovery_endpoint"]?.stringValue?.contains(alpha.id) == true)
            let aliases = answer["metadata"]?.arrayValue?.first?.objectValue?["aliases"]?.arrayValue ?? []
            #expect(aliases.contains(.string("127.0.0.1:\(scene.provider.port)")))
            let foreign = try await scene.browser.get(url + "https://evil.example/common".urlEncoded)
            #expect(foreign.oauthError == "invalid_instance")
        }
    }

    @Test("a guest has another object id in the other tenant, and the same client_info")
    func guest() async throws {
        try await withEntra { scene async throws in
            var seen: [(token: JSONObject, info: JSONValue?)] = []
            for tenant in [alpha.id, beta.id] {
                let redirect = try await scene.signIn(tenant: tenant)
                let answer = try #require(try await scene.redeem(redirect, tenant: tenant).json().objectValue)
                seen.append((try claims(of: answer["id_token"]?.stringValue), answer["client_info"]))
            }
            #expect(seen.map { $0.token["tid"] } == [.string(alpha.id), .string(beta.id)])
            #expect(seen[0].token["oid"] != seen[1].token["oid"])
            #expect(seen[0].token["sub"] != seen[1].token["sub"])
            #expect(seen.map { $0.token["ver"] } == ["2.0", "2.0"])
            #expect(seen[0].info != nil)
            #expect(seen[0].info == seen[1].info)
            let info = try claims(of: "x.\(seen[0].info?.stringValue ?? "").x")
            #expect(info["uid"] == seen[0].token["oid"])
            #expect(info["utid"]?.stringValue == alpha.id)
        }
    }

    @Test(
        "users are signed in to their own tenant, and refused in others",
        arguments: [
            ("alice", "common", EntraDirectory.alpha.id), ("carol", "common", EntraDirectory.consumers.id),
            ("carol", "consumers", EntraDirectory.consumers.id), ("carol", "organizations", nil),
            ("bob", EntraDirectory.alpha.domain, nil), ("alice", "consumers", nil),
        ] as [(String, String, String?)])
    func belonging(_ name: String, _ tenant: String, _ home: String?) async throws {
        try await withEntra { scene async throws in
            let person = Person(name: name, password: "\(name)-pw-1")
            guard let home else {
                // The page says so and asks for another person, again and again.
                await #expect(throws: ProcessFailure.self) { try await scene.signIn(person, tenant: tenant) }
                return
            }
            let answer = try await scene.redeem(try await scene.signIn(person, tenant: tenant), tenant: tenant)
            let token = try claims(of: try answer.json().objectValue?["id_token"]?.stringValue)
            #expect(token["tid"]?.stringValue == home)
            #expect(token["iss"]?.stringValue == "\(scene.provider.origin)/\(home)/v2.0")
        }
    }

    @Test("a refresh token works for every tenant and resource of the person, and its predecessor stays valid")
    func refreshTokens() async throws {
        try await withEntra { scene async throws in
            let answer = try await scene.redeem(try await scene.signIn()).json().objectValue
            let first = answer?["refresh_token"]?.stringValue
            let abroad = try await scene.refresh(first, tenant: beta.id, ["scope": "api://app/.default openid"])
            let second = try #require(try abroad.json().objectValue)
            #expect(try claims(of: second["id_token"]?.stringValue)["tid"]?.stringValue == beta.id)
            #expect(second["scope"] == "api://app/user_impersonation api://app/.default openid")
            #expect(try claims(of: second["access_token"]?.stringValue)["aud"] == "api://app")
            #expect(try await scene.refresh(first).status == 200)
            let elsewhere = try await scene.refresh(first, tenant: "consumers")
            #expect(elsewhere.oauthError == "invalid_grant")
            #expect(try elsewhere.json().objectValue?["error_codes"] == [50020])
        }
    }

    @Test("a resource's double slash is kept, and its .default scope must be alone")
    func defaultScope() async throws {
        try await withEntra { scene async throws in
            let management = "https://management.example//.default"
            let redirect = try await scene.signIn(scope: management + " offline_access")
            let answer = try #require(try await scene.redeem(redirect).json().objectValue)
            #expect(answer["scope"]?.stringValue == "https://management.example//user_impersonation " + management)
            #expect(try claims(of: answer["access_token"]?.stringValue)["aud"] == "https://management.example/")
            let mixed = try await scene.refresh(
                answer["refresh_token"]?.stringValue, ["scope": "api://a/.default api://a/read"])
            #expect(mixed.oauthError == "invalid_scope")
            #expect(try mixed.json().objectValue?["error_codes"] == [70011])
        }
    }

    @Test("offline_access controls the refresh token, the configuration refresh_in and ext_expires_in")
    func lifetimes() async throws {
        try await withEntra({
            $0.policy.refreshIn = 1800
            $0.policy.extendedLifetime = 9000
        }) { scene async throws in
            let redirect = try await scene.signIn(scope: "openid " + graph)
            let answer = try #require(try await scene.redeem(redirect).json().objectValue)
            #expect(answer["refresh_token"] == nil)
            #expect(answer["foci"] == nil)
            #expect(answer["refresh_in"] == 1800)
            #expect(answer["ext_expires_in"] == 9000)
        }
    }

    @Test("a family's refresh token works for its members only")
    func family() async throws {
        try await withEntra { scene async throws in
            let answer = try #require(try await scene.redeem(try await scene.signIn()).json().objectValue)
            #expect(answer["foci"] == "1")
            let token = answer["refresh_token"]?.stringValue
            let sibling = try await scene.refresh(token, ["client_id": "demo-two"])
            #expect(sibling.status == 200)
            #expect(try sibling.json().objectValue?["foci"] == "1")
            let stranger = try await scene.refresh(token, ["client_id": "demo-other"])
            #expect(stranger.oauthError == "invalid_grant")
            #expect(try stranger.json().objectValue?["suberror"] == "client_mismatch")
            let ownRedirect = try await scene.signIn(id: "demo-other")
            let own = try await scene.redeem(ownRedirect, ["client_id": "demo-other"]).json().objectValue
            #expect(own?["foci"] == nil)
        }
    }

    @Test("errors have number, time and correlation id, and a revoked token is reported as a bad one")
    func errors() async throws {
        try await withEntra { scene async throws in
            let answer = try await scene.redeem(try await scene.signIn()).json().objectValue
            scene.provider.revokeAllGrants()
            let correlation = "7d0c0e1e-0000-4000-8000-123456789abc"
            let reply = try await scene.ask(
                ["grant_type": "refresh_token", "refresh_token": answer?["refresh_token"]?.stringValue ?? ""],
                headers: ["client-request-id": correlation])
            let error = try #require(try reply.json().objectValue)
            #expect(reply.status == 400)
            #expect(error["error"] == "invalid_grant")
            #expect(error["suberror"] == "bad_token")
            #expect(error["error_codes"] == [50173])
            #expect(error["error_description"]?.stringValue?.hasPrefix("AADSTS50173: ") == true)
            #expect(error["correlation_id"]?.stringValue == correlation)
            #expect(error["timestamp"]?.stringValue?.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/) != nil)
            #expect(error["trace_id"]?.stringValue?.count == 36)
        }
    }

    @Test("a claims challenge is met by a new request with its claims, and consumes nothing")
    func claimsChallenge() async throws {
        try await withEntra { scene async throws in
            let answer = try await scene.redeem(try await scene.signIn()).json().objectValue
            let token = answer?["refresh_token"]?.stringValue
            let wanted = "{\"access_token\":{\"polids\":{\"essential\":true,\"values\":[\"one\"]}}}"
            try scene.provider.requireClaims(wanted)
            let challenged = try await scene.refresh(token)
            #expect(challenged.oauthError == "interaction_required")
            let claims = try #require(try challenged.json().objectValue?["claims"]?.stringValue)
            #expect(claims.contains("polids"))
            let redirect = try await scene.signIn("alice", claims: claims)
            #expect(try await scene.redeem(redirect).status == 200)

            try scene.provider.requireClaims("{\"access_token\":{\"xms_cc\":{\"values\":[\"cp1\"]}}}")
            #expect(try await scene.refresh(token).oauthError == "interaction_required")
            let capable = ["claims": "{\"access_token\":{\"xms_cc\":{\"values\":[\"cp1\",\"cp2\"]}}}"]
            #expect(try await scene.refresh(token, capable).status == 200)
            try scene.provider.requireClaims("{}")
            #expect(try await scene.refresh(token).status == 200)
        }
    }

    @Test("a cancelled sign-in, a declined scope, and an app's hints are supported")
    func pages() async throws {
        try await withEntra({
            $0.asksConsent = true
            $0.declinedScopes = ["Mail.Read"]
        }) { scene async throws in
            let url = try await scene.client().authorizationURL(["domain_hint": "alpha.test", "login_hint": "alice"])
            let page = try await scene.browser.get(url)
            #expect(page.text.contains("<strong>alpha.test</strong>"))
            #expect(page.text.contains("value=\"alice\""))
            #expect(scene.provider.log.last?.domainHint == "alpha.test")

            let browser = FormBrowser(session: scene.browser, home: scene.provider.origin)
            let denied = try await browser.visit(url) { form in
                guard form.fields["password"] != nil else { return form.fields["decision"] = "deny" }
                form.fields["username"] = "alice"
                form.fields["password"] = "alice-pw-1"
            }
            #expect(denied["error"] == "access_denied")
            #expect(denied["error_subcode"] == "cancel")
            let redirect = try await scene.signIn(scope: "openid User.Read Mail.Read offline_access")
            let answer = try await scene.redeem(redirect).json().objectValue
            #expect(answer?["scope"] == "User.Read openid")
            let wider = try await scene.refresh(answer?["refresh_token"]?.stringValue, ["scope": "Files.Read"])
            #expect(try wider.json().objectValue?["suberror"] == "consent_required")
        }
    }
}

extension EntraScene {
    fileprivate func signIn(_ name: String, claims: String) async throws -> ProviderRedirect {
        try await signIn(Person(name: name, password: "\(name)-pw-1"), ["claims": claims])
    }
}
