import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// One group, two providers, and an `ada` at each.
@Suite("Equal usernames at two providers")
struct NamesakeFlowTests {
    private let mail = Sample.app("mail", group: "office")
    private let wiki: AppRegistration = {
        var app = Sample.app("wiki", client: "client-2", group: "office")
        app.authority = Sample.authority("https://wiki.example")
        return app
    }()

    /// Ada is signed in at both, and then signed out of the wiki.
    private func signedOutOfTheWiki() async throws -> (bed: EngineBed, mail: String, wiki: String) {
        let bed = try await EngineBed()
        bed.roster.set([mail, wiki])
        let here = try await bed.signIn("ada", mail).account.id
        let there = try await bed.signIn("ada", wiki).account.id
        var request = SignOutRequest(
            partition: Sample.partition, account: .id(there), correlationID: "correlation-1")
        request.app = wiki
        #expect(try await bed.engine.signOut(request) { _ in }.local == .done)
        return (bed, here, there)
    }

    private func twoAdas() async throws -> (bed: EngineBed, ids: Set<String>) {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        let ids = [try await bed.signIn("ada", mail).account.id, try await bed.signIn("Ada", mail).account.id]
        #expect(Set(ids).count == 2)
        return (bed, Set(ids))
    }

    private static func isAmbiguous(_ ids: Set<String>, _ work: () async throws -> Void) async -> Bool {
        let error = await #expect(throws: BrokerError.self) { try await work() }
        return error?.kind == .ambiguousAccount && Set(error?.details.accounts?.map(\.id) ?? []) == ids
    }

    @Test("the account that fits the app's provider is meant, although the same name is signed in elsewhere")
    func account() async throws {
        let (bed, _, there) = try await signedOutOfTheWiki()
        let token = try await bed.signIn("ada", bed.interactive(wiki) { $0.account = .username("ADA") })
        #expect(token.account.id == there)
        #expect(bed.provider.authorizations.last?.prompt == .login)
    }

    @Test("the person with a live sign-in is meant if two share a username, else the request is ambiguous")
    func oneName() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("ada#1", mail)
        let second = try await bed.signIn("ada#2", mail).account.id
        let request = bed.silent(mail) { $0.account = .username("ada") }
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request) }
        #expect(error?.kind == .ambiguousAccount && error?.details.accounts?.count == 2)
        #expect(bed.engine.cached(request) == nil)

        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant throws(ProviderError) in
            guard case .refreshToken(let token, _) = grant, token.revealed() == "rt-1" else { return provider.tokens() }
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        let first = try #require(error?.details.accounts?.first { $0.id != second }?.id)
        await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent(mail) { $0.account = .id(first) })
        }
        #expect(try await bed.engine.acquireSilent(request).account.id == second)
    }

    @Test(
        "the person's own tools get an ambiguity error, an app gets its provider's account, and an id is exact")
    func tools() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, wiki])
        let accounts = [try await bed.signIn("ada", mail).account, try await bed.signIn("ada", wiki).account]
        let error = #expect(throws: BrokerError.self) {
            try bed.engine.account(.username("ADA"), of: nil, in: Sample.partition)
        }
        #expect(error?.kind == .ambiguousAccount)
        #expect(Set(error?.details.accounts?.map(\.id) ?? []) == Set(accounts.map(\.id)))
        #expect(try bed.engine.account(.username("ada"), of: mail, in: Sample.partition) != nil)
        #expect(try bed.engine.account(.id(accounts[1].id), of: nil, in: Sample.partition)?.id == accounts[1].id)
        #expect(try bed.engine.account(.username("eve"), of: nil, in: Sample.partition) == nil)
    }

    @Test("a hinted account that is signed out is asked for the password, although its namesake is signed in")
    func hint() async throws {
        let (bed, _, there) = try await signedOutOfTheWiki()
        let token = try await bed.signIn("ada", bed.interactive(wiki) { $0.loginHint = "ada" })
        #expect(token.account.id == there)
        #expect(bed.provider.authorizations.last?.prompt == .login)
    }

    @Test("an app signs out and removes the account of its own provider, although a namesake is signed in")
    func signOut() async throws {
        for removes in [false, true] {
            let (bed, here, there) = try await signedOutOfTheWiki()
            func go(_ account: AccountReference) async throws {
                var request = SignOutRequest(
                    partition: Sample.partition, account: account, correlationID: "correlation-2")
                request.app = wiki
                if removes {
                    _ = try await bed.engine.remove(account, from: wiki, in: Sample.partition)
                } else {
                    _ = try await bed.engine.signOut(request) { _ in }
                }
            }
            try await go(.username("ada"))
            let error = await #expect(throws: BrokerError.self) { try await go(.id(here)) }
            #expect(error?.kind == .accountNotFound)
            let signedIn = try bed.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).map(\.id)
            #expect(signedIn.contains(here))
            #expect(try bed.engine.account(.username("ada"), of: wiki, in: Sample.partition)?.id == there)
        }
    }

    @Test(
        "a username shared by two people of one provider gives and removes no token without an id"
    )
    func oneProvider() async throws {
        let (bed, ids) = try await twoAdas()
        func isAmbiguous(_ work: () async throws -> Void) async -> Bool { await Self.isAmbiguous(ids, work) }
        #expect(
            await isAmbiguous {
                _ = try await bed.engine.acquireSilent(bed.silent(mail) { $0.account = .username("ada") })
            })
        #expect(
            await isAmbiguous { _ = try await bed.engine.remove(.username("ada"), from: mail, in: Sample.partition) })
        let second = try #require(ids.max())
        let token = try await bed.engine.acquireSilent(bed.silent(mail) { $0.account = .id(second) })
        #expect(token.account.id == second)
    }

    @Test("two people with one username are ambiguous, signed in or not")
    func noneFirst() async throws {
        let (bed, ids) = try await twoAdas()
        func expectAmbiguity() async {
            await #expect(
                Self.isAmbiguous(ids) {
                    _ = try await bed.engine.acquireInteractive(bed.interactive(mail) { $0.account = .username("ADA") })
                    {
                        _ in Issue.record("nothing may be opened")
                    }
                })
            await #expect(
                Self.isAmbiguous(ids) {
                    _ = try await bed.engine.acquireInteractive(bed.interactive(mail) { $0.loginHint = "ada" }) { _ in
                        Issue.record("nothing may be opened")
                    }
                })
            await #expect(
                Self.isAmbiguous(ids) {
                    let request = DeviceCodeRequest(
                        partition: Sample.partition, app: mail,
                        query: bed.silent(mail) { $0.account = .username("ada") }.query, correlationID: "correlation-1")
                    _ = try await bed.engine.acquireByDeviceCode(request) { _ in Issue.record("no code may be shown") }
                })
            await #expect(
                Self.isAmbiguous(ids) { _ = try bed.engine.account(.username("ada"), of: mail, in: Sample.partition) })
            await #expect(
                Self.isAmbiguous(ids) { _ = try bed.engine.account(.username("ada"), of: nil, in: Sample.partition) })
        }
        await expectAmbiguity()
        for id in ids {
            var request = SignOutRequest(
                partition: Sample.partition, account: .id(id), correlationID: "correlation-1")
            request.app = mail
            request.wipe = true
            _ = try await bed.engine.signOut(request) { _ in }
        }
        await expectAmbiguity()
    }

    @Test("an account that does not fit the request's provider is not found, and no window opens for it")
    func misfit() async throws {
        let (bed, here, _) = try await signedOutOfTheWiki()
        let asked = bed.provider.asked.count
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(bed.interactive(wiki) { $0.account = .id(here) }) { _ in
                Issue.record("nothing may be opened")
            }
        }
        #expect(error?.kind == .accountNotFound)
        #expect(bed.provider.asked.count == asked)
    }
}
