import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Signing in at another cloud")
struct CloudFlowTests {
    private static let government = "login.microsoftonline.us"
    private static let publicCloud = "login.microsoftonline.com"

    private static func entra(_ host: String = publicCloud, _ tenant: String = "common") -> Authority {
        Sample.authority("https://\(host)/\(tenant)")
    }
    private static let home = entra(government, ProviderDouble.tenant)

    private static func app(secret: String? = nil) -> AppRegistration {
        AppRegistration(
            name: "mail", clientID: "client-1", authority: entra(), clientSecret: secret.map { Secret($0) })
    }

    private func interactive(
        _ bed: EngineBed, _ change: (inout InteractiveRequest) -> Void = { _ in }
    ) -> InteractiveRequest {
        bed.interactive(Self.app()) {
            $0.isInstanceAware = true
            change(&$0)
        }
    }

    private func silent(_ bed: EngineBed, _ change: (inout SilentDraft) -> Void = { _ in }) -> SilentRequest {
        bed.silent(Self.app()) {
            $0.isInstanceAware = true
            change(&$0)
        }
    }

    /// The browser comes back with a code and these parameters.
    @discardableResult
    private func signIn(
        _ bed: EngineBed, _ request: InteractiveRequest, _ more: String = "&cloud_instance_host_name=\(government)"
    ) async throws -> AcquiredToken {
        let (browser, signIn) = bed.begin(request)
        let opening = try await browser.opening()
        _ = await bed.redirects.visit(opening.redirectURI, query: "code=alice&state=\(opening.state)\(more)")
        return try await signIn.value
    }

    private func expectRefusal(
        _ bed: EngineBed, _ request: InteractiveRequest, _ more: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: BrokerError.self, sourceLocation: sourceLocation) {
            try await signIn(bed, request, more)
        }
        #expect(error?.kind == .invalidResponse, sourceLocation: sourceLocation)
        #expect(bed.provider.told.isEmpty, "neither code nor verifier left the broker", sourceLocation: sourceLocation)
    }

    @Test("instance_aware goes to Entra if the app knows several clouds, and is off by default")
    func asking() async throws {
        let bed = try await EngineBed()
        try await signIn(bed, interactive(bed), "")
        try await signIn(bed, interactive(bed) { $0.isInstanceAware = false }, "")
        try await signIn(bed, bed.interactive { $0.isInstanceAware = true }, "")
        #expect(bed.provider.authorizations.map(\.isInstanceAware) == [true, false, false])
    }

    @Test("the code goes only to the cloud that the redirect names, and all records are filed there")
    func otherCloud() async throws {
        let bed = try await EngineBed()
        let token = try await signIn(bed, interactive(bed))
        #expect(bed.provider.told.map(\.place) == [Self.entra(Self.government)])
        #expect(token.account.environment == Self.government)
        #expect(token.account.authority == Self.home.url)
        #expect(token.token.record.authority == Self.home.url)
        #expect(token.token.record.owner.environment == Self.government)
        #expect(bed.provider.extras.last?.asksClientInfo == true)
    }

    @Test("silent requests find the account at the app's own authority, in the cache and by a refresh at its cloud")
    func silently() async throws {
        let bed = try await EngineBed()
        let token = try await signIn(bed, interactive(bed))
        #expect(try bed.text(try #require(bed.engine.cached(silent(bed)))) == bed.text(token))
        let refreshed = try await bed.engine.acquireSilent(silent(bed) { $0.forceRefresh = true })
        #expect(bed.provider.told.last?.place == Self.home)
        #expect(refreshed.token.record.authority == Self.home.url)
        #expect(try bed.text(try #require(bed.engine.cached(silent(bed)))) == bed.text(refreshed))
        let again = try await bed.restarted()
        #expect(try await again.acquireSilent(silent(bed)).fromCache)
    }

    @Test("an app that is not instance-aware does not see the account, whatever cloud it names")
    func unaware() async throws {
        let bed = try await EngineBed()
        try await signIn(bed, interactive(bed))
        let plain = bed.silent(Self.app())
        #expect(bed.engine.cached(plain) == nil)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(plain) }
        #expect(error?.kind == .interactionRequired)
        let named = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent(Self.app()) { $0.authority = Self.entra(Self.government) })
        }
        #expect(named?.kind == .invalidAuthority)
    }

    @Test("the account's own authority, or its tenant at the app's cloud, may be named")
    func named() async throws {
        let bed = try await EngineBed()
        let token = try await signIn(bed, interactive(bed))
        for authority in [Self.home, Self.entra(Self.publicCloud, ProviderDouble.tenant)] {
            let found = try #require(
                bed.engine.cached(silent(bed) { $0.authority = authority }), "\(authority.url)")
            #expect(try bed.text(found) == bed.text(token))
        }
        // An authority of a third cloud is taken literally: nobody is signed in there.
        let china = Self.entra("login.partner.microsoftonline.cn")
        #expect(bed.engine.cached(silent(bed) { $0.authority = china }) == nil)
    }

    @Test("a token obtained under one alias of a cloud is found under another")
    func aliases() async throws {
        let bed = try await EngineBed()
        let token = try await signIn(bed, interactive(bed), "")
        for host in ["login.windows.net", "login.microsoft.com", "sts.windows.net", Self.publicCloud] {
            let request = bed.silent(Self.app()) { $0.authority = Self.entra(host) }
            let found = try #require(bed.engine.cached(request), "\(host)")
            #expect(try bed.text(found) == bed.text(token))
        }
        #expect(bed.provider.asked.allSatisfy { $0.environment == Self.publicCloud })
    }

    @Test("an import gives an instance-aware app its people of all clouds, and another app those of its own")
    func imported() async throws {
        func entry(_ person: String, _ host: String, _ more: JSONObject) -> JSONValue {
            let fields: JSONObject = [
                "home_account_id": .string("\(person).\(ProviderDouble.tenant)"), "environment": .string(host),
                "client_id": "client-1", "secret": .string("rt-of-\(person)"), "username": .string(person),
                "realm": .string(ProviderDouble.tenant), "local_account_id": .string(person),
            ]
            return .object(fields.merging(more) { $1 })
        }
        let people = ["alice": "login.windows.net", "bob": "login.usgovcloudapi.net"]
        let file: JSONObject = [
            "Account": .object(people.reduce(into: [:]) { $0[$1.key] = entry($1.key, $1.value, [:]) }),
            "RefreshToken": .object(
                people.reduce(into: [:]) { $0[$1.key] = entry($1.key, $1.value, ["target": "mail.read"]) }),
        ]
        for isInstanceAware in [true, false] {
            let bed = try await EngineBed()
            var app = Self.app()
            app.isInstanceAware = isInstanceAware
            bed.roster.set([app])
            let report = try await bed.engine.importCache(file, for: nil, in: Sample.partition)
            #expect(report.accounts == (isInstanceAware ? 2 : 1))
            // The client is registered, though not for that cloud.
            #expect(report.unregistered.map(\.environment) == (isInstanceAware ? [] : ["login.usgovcloudapi.net"]))
            guard isInstanceAware else { continue }
            _ = try await bed.engine.acquireSilent(silent(bed) { $0.account = .username("bob") })
            #expect(bed.provider.refreshes == ["rt-of-bob"])
            #expect(bed.provider.told.last?.place == Self.home)
        }
    }

    @Test("a token that is due is renewed ahead of time at the account's cloud")
    func ahead() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            response.refreshIn = 60
            return response
        }
        try await signIn(bed, interactive(bed))
        bed.clock.advance(bySeconds: 61)
        #expect(bed.engine.cached(silent(bed)) != nil)
        try await bed.provider.waitForGrants(2)
        #expect(bed.provider.told.last?.place == Self.home)
    }

    @Test("an unknown cloud's host is refused without fetching its metadata")
    func unknown() async throws {
        let bed = try await EngineBed()
        await expectRefusal(bed, interactive(bed), "&cloud_instance_host_name=evil.example")
        #expect(bed.provider.asked == [Self.entra()])
    }

    @Test("a known cloud that was not requested is refused, and does not get the code")
    func unasked() async throws {
        let bed = try await EngineBed()
        let request = interactive(bed) { $0.isInstanceAware = false }
        await expectRefusal(bed, request, "&cloud_instance_host_name=\(Self.government)")
        #expect(bed.provider.asked == [Self.entra()])
    }

    @Test("the cloud that was asked may name itself, requested or not")
    func ownName() async throws {
        let bed = try await EngineBed()
        for isInstanceAware in [true, false] {
            let token = try await signIn(
                bed, interactive(bed) { $0.isInstanceAware = isInstanceAware },
                "&cloud_instance_host_name=login.windows.net")
            #expect(token.account.environment == Self.publicCloud)
        }
    }

    @Test("a redirect that names one cloud and another's issuer is refused as a mix-up")
    func mixUp() async throws {
        let bed = try await EngineBed()
        await expectRefusal(
            bed, interactive(bed), "&cloud_instance_host_name=\(Self.government)&iss=\(Self.entra().url)")
    }

    @Test("a cloud whose token endpoint is on another host gets nothing")
    func tokenEndpoint() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { metadata in
            if metadata.authority.environment == Self.government { metadata.tokenEndpoint = "https://evil.example/t" }
        }
        await expectRefusal(bed, interactive(bed), "&cloud_instance_host_name=\(Self.government)")
    }

    /// From now on the other cloud names a foreign token endpoint.
    private func misdirect(_ bed: EngineBed) {
        bed.provider.offer { metadata in
            if metadata.authority.environment == Self.government { metadata.tokenEndpoint = "https://evil.example/t" }
        }
    }

    @Test("a refresh token of another cloud goes only to its own host, and is kept if that is unavailable")
    func refreshEndpoint() async throws {
        let bed = try await EngineBed()
        try await signIn(bed, interactive(bed))
        misdirect(bed)
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(silent(bed) { $0.forceRefresh = true })
        }
        #expect(error?.kind == .invalidResponse)
        #expect(bed.provider.refreshes.isEmpty)
        bed.provider.offer { _ in }
        bed.clock.advance(bySeconds: 300)
        _ = try await bed.engine.acquireSilent(silent(bed) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("a sign-in at another cloud does not begin if its code would go to another host")
    func endpointAtTheStart() async throws {
        let bed = try await EngineBed()
        let id = try await signIn(bed, interactive(bed)).account.id
        misdirect(bed)
        let requests = [
            interactive(bed) { $0.account = .id(id) },
            interactive(bed) { $0.authority = Self.entra(Self.government) },
        ]
        for request in requests {
            let error = await #expect(throws: BrokerError.self) {
                try await bed.engine.acquireInteractive(request) { _ in Issue.record("nothing may be opened") }
            }
            #expect(error?.kind == .invalidResponse)
        }
        #expect(bed.provider.told.count == 1)
    }

    @Test("a refresh token of another cloud is not revoked at another host")
    func revocationEndpoint() async throws {
        let bed = try await EngineBed()
        bed.roster.set([Self.app()])
        bed.provider.offer { $0.revocationEndpoint = "https://evil.example/revoke" }
        for (more, isRevoked) in [("&cloud_instance_host_name=\(Self.government)", false), ("", true)] {
            let id = try await signIn(bed, interactive(bed), more).account.id
            var request = SignOutRequest(
                partition: Sample.partition, account: .id(id), correlationID: "correlation-1")
            request.app = Self.app()
            request.revoke = true
            let stages = try await bed.engine.signOut(request) { _ in }
            #expect(stages.local == .done)
            // The app's own provider is trusted.
            #expect((stages.revocation == .done) == isRevoked)
            #expect(bed.provider.revoked.isEmpty == !isRevoked)
        }
    }

    @Test("a client secret stays in its own cloud, even if the request says instance-aware")
    func secret() async throws {
        let bed = try await EngineBed()
        let request = bed.interactive(Self.app(secret: "s")) { $0.isInstanceAware = true }
        await expectRefusal(bed, request, "&cloud_instance_host_name=\(Self.government)")
        #expect(bed.provider.authorizations.last?.isInstanceAware == false)
        try await signIn(bed, request, "")
        #expect(bed.provider.told.map(\.place) == [Self.entra()])
        #expect(bed.provider.told.first?.client.secret != nil)
    }

    @Test("a sign-in for an account of another cloud begins there, and rejects people of a third cloud")
    func account() async throws {
        let bed = try await EngineBed()
        let id = try await signIn(bed, interactive(bed)).account.id
        let again = try await signIn(bed, interactive(bed) { $0.account = .id(id) }, "")
        #expect(again.account.id == id)
        #expect(bed.provider.asked.last == Self.entra(Self.government))
        #expect(bed.provider.authorizations.last?.isInstanceAware == false)
        let error = await #expect(throws: BrokerError.self) {
            try await signIn(
                bed, interactive(bed) { $0.account = .id(id) },
                "&cloud_instance_host_name=login.partner.microsoftonline.cn")
        }
        #expect(error?.kind == .invalidResponse)
    }

    @Test("requests that allow other clouds share no window with those that do not")
    func windows() async throws {
        let bed = try await EngineBed()
        let (one, first) = bed.begin(interactive(bed))
        let (two, second) = bed.begin(interactive(bed) { $0.isInstanceAware = false })
        let openings = [try await one.opening(), try await two.opening()]
        #expect(openings[0].interactionID != openings[1].interactionID)
        for opening in openings { _ = await bed.redirects.visit(opening, code: "alice") }
        _ = try await (first.value, second.value)
    }

    @Test("accounts with the same id in two clouds are two people, each with a window of their own")
    func oneIDTwice() async throws {
        let bed = try await EngineBed()
        let here = try await signIn(bed, interactive(bed), "").account
        let there = try await signIn(bed, interactive(bed)).account
        #expect(here.homeAccountId == there.homeAccountId && here.id != there.id)
        let (one, first) = bed.begin(interactive(bed) { $0.account = .id(here.id) })
        let (two, second) = bed.begin(interactive(bed) { $0.account = .id(there.id) })
        let openings = [try await one.opening(), try await two.opening()]
        #expect(openings[0].interactionID != openings[1].interactionID)
        for opening in openings { _ = await bed.redirects.visit(opening, code: "alice") }
        #expect(try await [first.value.account.id, second.value.account.id] == [here.id, there.id])
        // A request that does not allow other clouds has no such account.
        let error = await #expect(throws: BrokerError.self) {
            let plain = interactive(bed) {
                $0.isInstanceAware = false
                $0.account = .id(there.id)
            }
            return try await bed.engine.acquireInteractive(plain) { _ in Issue.record("nothing may be opened") }
        }
        #expect(error?.kind == .accountNotFound)
    }

    @Test("an imported token goes only to its own cloud if two clouds share a host with different ports")
    func importedAmongPorts() async throws {
        let hosts = ["127.0.0.1:8001", "127.0.0.1:8002"]
        let kinds = Dictionary(uniqueKeysWithValues: hosts.map { ($0, ProviderKind.entra) })
        var app = Self.app()
        app.authority = try Authority(
            parsing: "http://\(hosts[0])/common", allowHTTPLoopback: true, kinds: kinds)
        app.isInstanceAware = true
        for (environment, owners) in [(hosts[1], [hosts[1]]), ("127.0.0.1", [])] {
            let bed = try await EngineBed()
            var settings = EngineSettings()
            settings.authorities = AuthorityParser(
                allowsHTTPLoopback: true, kinds: kinds, clouds: CloudTable([hosts[0]: [hosts[1]]]))
            bed.engine.apply(settings)
            bed.roster.set([app])
            let entry: JSONObject = [
                "home_account_id": .string("bob.\(ProviderDouble.tenant)"), "environment": .string(environment),
                "client_id": "client-1", "secret": "rt-of-bob", "username": "bob",
                "realm": .string(ProviderDouble.tenant), "local_account_id": "bob", "target": "mail.read",
            ]
            let file: JSONObject = [
                "Account": ["a": .object(entry)], "RefreshToken": ["r": .object(entry)],
            ]
            let report = try await bed.engine.importCache(file, for: nil, in: Sample.partition)
            let kept = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition)
            #expect(kept.map(\.record.owner.environment) == owners)
            #expect(report.unregistered.map(\.environment) == (owners.isEmpty ? [environment] : []))
        }
    }

    @Test("a sign-out revokes and ends the browser session at the account's cloud, with its own ID token")
    func signOut() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.endSessionEndpoint = $0.authority.url + "/logout" }
        let account = try await signIn(bed, interactive(bed)).account
        var request = SignOutRequest(
            partition: Sample.partition, account: .id(account.id), correlationID: "correlation-1")
        request.app = Self.app()
        request.revoke = true
        request.fromBrowser = true
        let (browser, ending) = Browser.during { [request] browser in
            try await bed.engine.signOut(request) { browser.opened($0) }
        }
        let opening = try await browser.opening()
        #expect(opening.url.hasPrefix("https://\(Self.government)/common/logout"))
        #expect(bed.provider.endedSessions.last?.idTokenHint?.revealed() == "alice")
        _ = await bed.redirects.visit(opening.redirectURI, query: "state=\(opening.state)")
        let stages = try await ending.value
        #expect(stages.revocation == .done && stages.browser == .done)
        #expect(bed.provider.told.last?.place.environment == Self.government)
    }
}
