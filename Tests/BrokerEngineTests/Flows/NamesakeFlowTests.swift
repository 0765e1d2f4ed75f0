import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// One group, two providers, and an `ada` at each.
@Suite("Namesakes at two providers", .timeLimit(.minutes(1)))
struct NamesakeFlowTests {
    private let mail = Sample.app("mail", group: "office")
    private let wiki: AppRegistration = {
        var app = Sample.app("wiki", client: "client-2", group: "office")
        app.authority = Sample.authority("https://wiki.example")
        return app
    }()

    /// Ada is signed in at both, and then out of the wiki.
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

    @Test("the account meant is the one that fits the app's provider, although its namesake elsewhere is signed in")
    func account() async throws {
        let (bed, _, there) = try await signedOutOfTheWiki()
        let (browser, signIn) = bed.begin(bed.interactive(wiki) { $0.account = .username("ADA") })
        _ = await bed.redirects.visit(await browser.opening(), code: "ada")
        #expect(try await signIn.value.account.id == there)
        #expect(bed.provider.authorizations.last?.prompt == .login)
    }

    @Test("the person's own tools are asked which one is meant; an app gets the first, and an id means one")
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

    @Test("whoever is hinted at and has signed out is asked for the password, whoever is signed in elsewhere")
    func hint() async throws {
        let (bed, _, there) = try await signedOutOfTheWiki()
        let (browser, signIn) = bed.begin(bed.interactive(wiki) { $0.loginHint = "ada" })
        _ = await bed.redirects.visit(await browser.opening(), code: "ada")
        #expect(try await signIn.value.account.id == there)
        #expect(bed.provider.authorizations.last?.prompt == .login)
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
