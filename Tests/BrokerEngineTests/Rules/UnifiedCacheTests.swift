import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// A cache as MSAL for Python writes it: numbers as text, scopes joined by spaces, an entry of a future kind.
enum MSALCache {
    static let home = "11111111-aaaa.22222222-bbbb"

    static func credential(_ type: String, _ more: JSONObject = [:]) -> JSONObject {
        let fields: JSONObject = [
            "home_account_id": .string(home), "environment": "login.windows.net", "client_id": "client-1",
            "credential_type": .string(type), "secret": .string("secret-\(type)"),
        ]
        return fields.merging(more) { $1 }
    }

    static func file(_ change: (inout [String: JSONObject]) -> Void = { _ in }) -> JSONObject {
        var sections: [String: JSONObject] = [
            "Account": [
                "a": [
                    "home_account_id": .string(home), "environment": "login.windows.net", "realm": "22222222-BBBB",
                    "local_account_id": "11111111-aaaa", "username": "alice@example.org", "authority_type": "MSSTS",
                    "account_source": "authorization_code",
                ]
            ],
            "RefreshToken": [
                "r": .object(
                    credential("RefreshToken", ["target": "Mail.Read", "last_modification_time": "1799999000"]))
            ],
            "AccessToken": [
                "t": .object(
                    credential(
                        "AccessToken",
                        [
                            "target": "openid profile Mail.Read", "realm": "22222222-bbbb", "token_type": "Bearer",
                            "cached_at": "1799999000", "expires_on": "1800003000", "extended_expires_on": "1800007000",
                            "refresh_on": "1800001000", "key_id": "kept",
                        ]))
            ],
            "IdToken": ["i": .object(credential("IdToken", ["realm": "22222222-bbbb"]))],
            "AppMetadata": ["m": ["client_id": "client-1", "environment": "login.windows.net", "family_id": "1"]],
            "Tomorrow": ["x": "y"],
        ]
        change(&sections)
        return sections.mapValues { .object($0) }
    }

    static func app(_ name: String = "mail", client: String = "client-1", group: String? = nil) -> AppRegistration {
        AppRegistration(
            name: name, clientID: client,
            authority: Sample.authority("https://login.microsoftonline.com/common"), group: group)
    }
}

@Suite("Reading a cache of MSAL's")
struct UnifiedCacheTests {
    private func plan(
        _ app: AppRegistration = MSALCache.app(), _ change: (inout [String: JSONObject]) -> Void = { _ in }
    ) -> ImportPlan {
        ImportPlan(UnifiedCache(MSALCache.file(change)), for: app, now: Sample.now)
    }

    @Test(
        "a realm filed by MSAL for Python under a shared tenant becomes the home tenant",
        arguments: ["common", "Organizations"])
    func sharedTenant(name: String) throws {
        let plan = plan { sections in
            for section in ["Account", "AccessToken", "IdToken"] {
                sections[section] = sections[section]?.mapValues { entry in
                    var entry = entry.objectValue ?? [:]
                    entry["realm"] = .string(name)
                    return .object(entry)
                }
            }
        }
        let home = try #require(HomeAccountID(rawValue: MSALCache.home).homeTenant)
        #expect(!plan.accounts.isEmpty && !plan.accessTokens.isEmpty && !plan.idTokens.isEmpty)
        #expect(plan.accounts.allSatisfy { $0.realm == home && $0.tenantID == home })
        #expect(plan.accounts.allSatisfy { $0.authority.hasSuffix("/\(home)") })
        #expect(plan.accessTokens.allSatisfy { $0.record.realm == home && $0.record.authority.hasSuffix("/\(home)") })
        #expect(plan.idTokens.allSatisfy { $0.record.realm == home })
    }

    @Test("cloud aliases and tenant realms are mapped, and the account keeps its home id")
    func account() throws {
        let account = try #require(plan().accounts.first)
        #expect(account.environment == "login.microsoftonline.com")
        #expect(account.homeAccountID.rawValue == MSALCache.home)
        #expect(account.realm == "22222222-bbbb")
        #expect(account.tenantID == "22222222-bbbb")
        #expect(account.authority == "https://login.microsoftonline.com/22222222-bbbb")
        #expect(account.username == "alice@example.org")
    }

    @Test("fields that the schema does not name are kept with their record")
    func unknownFields() throws {
        #expect(try #require(plan().accounts.first).extra?["account_source"] == "authorization_code")
        #expect(try #require(plan().accessTokens.first).record.extra?["key_id"] == "kept")
    }

    @Test("an access token keeps its times and scopes, and an expired one is left out and counted")
    func accessTokens() throws {
        let token = try #require(plan().accessTokens.first).record
        #expect(token.expiresOn == 1_800_003_000)
        #expect(token.extendedExpiresOn == 1_800_007_000)
        #expect(token.refreshOn == 1_800_001_000)
        #expect(token.cachedAt == 1_799_999_000)
        #expect(token.scopes == ["openid", "profile", "Mail.Read"])
        let later = ImportPlan(UnifiedCache(MSALCache.file()), for: MSALCache.app(), now: 1_800_003_000)
        #expect(later.accessTokens.isEmpty)
        #expect(later.expired == 1)
    }

    @Test("a token of another client or cloud is not the app's")
    func otherClients() {
        let other = plan(MSALCache.app(client: "client-2"))
        #expect(other.accounts.isEmpty && other.refreshTokens.isEmpty && other.accessTokens.isEmpty)
        var elsewhere = MSALCache.app()
        elsewhere.authority = Sample.authority("https://login.microsoftonline.us/common")
        #expect(plan(elsewhere).refreshTokens.isEmpty)
    }

    @Test("a family's refresh token goes to its own client and to clients that the file lists as members")
    func family() {
        func families(_ client: String, member: Bool) -> [String?] {
            plan(MSALCache.app(client: client)) { sections in
                sections["RefreshToken"]?["r"] = .object(
                    MSALCache.credential("RefreshToken", ["target": "Mail.Read", "family_id": "1"]))
                if member {
                    sections["AppMetadata"]?["m2"] = [
                        "client_id": "client-2", "environment": "login.microsoftonline.com", "family_id": "1",
                    ]
                }
            }.refreshTokens.map(\.record.familyID)
        }
        #expect(families("client-1", member: false) == [nil, "1"])
        #expect(families("client-2", member: true) == ["1"])
        #expect(families("client-2", member: false) == [])
    }

    @Test("scopes that MSAL always requests count as granted to its refresh tokens")
    func reservedScopes() throws {
        let scopes = try #require(plan().refreshTokens.first).record.scopes
        #expect(scopes == ["openid", "profile", "offline_access", "Mail.Read"])
    }

    @Test("malformed entries are reported by number, without their secret, and affect no other entry")
    func malformed() {
        let cache = UnifiedCache(
            MSALCache.file { sections in
                sections["RefreshToken"]?["a"] = "text"
                sections["RefreshToken"]?["b"] = .object(MSALCache.credential("RefreshToken", ["secret": 5]))
                sections["RefreshToken"]?["c"] = .object(
                    MSALCache.credential("RefreshToken", ["client_id": "", "secret": "hidden"]))
                sections["AccessToken"]?["b"] = .object(MSALCache.credential("AccessToken", ["expires_on": "soon"]))
            })
        #expect(
            cache.problems == [
                "Entry 1 of RefreshToken is not an object.", "Entry 2 of RefreshToken has no secret.",
                "Entry 3 of RefreshToken has no client_id.", "Entry 1 of AccessToken has no expires_on.",
            ])
        #expect(cache.refreshTokens.count == 1)
        #expect(cache.accessTokens.count == 1)
        #expect(UnifiedCache(["Account": 5]).problems == ["The section Account is not an object."])
    }

    @Test("tokens without a person in the file and tokens bound to a key are reported")
    func unusable() {
        let nobody = plan { $0["Account"] = [:] }
        #expect(nobody.refreshTokens.isEmpty && nobody.accessTokens.isEmpty && nobody.accounts.isEmpty)
        #expect(nobody.problems.count == 2)
        let bound = plan { sections in
            sections["AccessToken"]?["t"] = .object(
                MSALCache.credential("AccessToken", ["token_type": "pop", "expires_on": "1800003000"]))
        }
        #expect(bound.accessTokens.isEmpty)
        #expect(bound.problems.count == 1)
    }

    @Test("a cache time from the future is unknown")
    func future() throws {
        let plan = plan { sections in
            sections["RefreshToken"]?["r"] = .object(
                MSALCache.credential("RefreshToken", ["last_modification_time": "1900000000"]))
        }
        #expect(try #require(plan.refreshTokens.first).record.cachedAt == 0)
    }

    @Test("the person at a provider without tenants is the subject at its issuer, and a loopback port may be missing")
    func generic() throws {
        var app = MSALCache.app()
        app.authority = Sample.authority("http://127.0.0.1:8000/realm")
        let plan = ImportPlan(
            UnifiedCache([
                "Account": [
                    "a": [
                        "home_account_id": "alice", "environment": "127.0.0.1", "local_account_id": "alice",
                        "username": "alice",
                    ]
                ],
                "RefreshToken": [
                    "r": [
                        "home_account_id": "alice", "environment": "127.0.0.1", "client_id": "client-1", "secret": "rt",
                    ]
                ],
            ]), for: app, now: Sample.now)
        let account = try #require(plan.accounts.first)
        #expect(account.homeAccountID == HomeAccountID(subject: "alice", issuer: "http://127.0.0.1:8000/realm"))
        #expect(account.realm == "realm")
        #expect(account.tenantID == nil)
        #expect(try #require(plan.refreshTokens.first).record.owner.environment == "127.0.0.1:8000")
    }

    @Test("a missing port matches no cloud if an app has several")
    func portAmongClouds() {
        func isHere(_ environment: String, among isOneOfSeveral: Bool) -> Bool {
            ImportPlan.isEnvironment(
                environment, of: Sample.authority("http://127.0.0.1:8000/realm"), isOneOfSeveral: isOneOfSeveral)
        }
        #expect(isHere("127.0.0.1", among: false) && !isHere("127.0.0.1", among: true))
        #expect(isHere("127.0.0.1:8000", among: false) && isHere("127.0.0.1:8000", among: true))
        #expect(!isHere("127.0.0.1:8001", among: false))
    }
}
