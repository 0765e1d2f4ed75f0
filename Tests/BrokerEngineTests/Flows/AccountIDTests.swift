import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Account ids")
struct AccountIDTests {
    private func accounts(_ engine: TokenBroker) throws -> [Account] {
        try engine.accounts(of: nil, includeSignedOut: true, in: Sample.partition)
    }

    @Test("the id is equal for all apps, survives a restart and a new data key, and differs in another vault")
    func stable() async throws {
        let bed = try await EngineBed()
        let id = try await bed.signIn().account.id
        #expect(id.utf8.count == 40 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(try await bed.signIn("alice", Sample.app("other")).account.id == id)
        #expect(try await bed.signIn("bob").account.id != id)
        try await bed.vault.replaceDataKeys(at: Sample.now)
        let again = try await bed.restarted()
        #expect(try accounts(again).map(\.id).contains(id))
        #expect(try await EngineBed().signIn().account.id != id)
    }

    @Test("an id contains nothing that could be computed from the person alone")
    func guessed() async throws {
        let bed = try await EngineBed()
        let account = try await bed.signIn().account
        let guess = HomeAccountID(rawValue: account.homeAccountId)
            .earlierAccountID(in: Sample.partition, environment: account.environment)
        #expect(!account.id.hasPrefix(guess) && !guess.hasPrefix(account.id))
    }

    @Test(
        "an id of an earlier version still names only its account, for scripts, sign-outs and apps")
    func earlier() async throws {
        let bed = try await EngineBed()
        let (alice, bob) = (try await bed.signIn("alice").account, try await bed.signIn("bob").account)
        let earlier = AccountReference.id(
            HomeAccountID(rawValue: alice.homeAccountId)
                .earlierAccountID(in: Sample.partition, environment: alice.environment))
        let request = bed.silent { $0.query.account = earlier }
        #expect(bed.engine.cached(request)?.account.id == alice.id)
        #expect(try await bed.engine.acquireSilent(request).account.id == alice.id)
        for app in [Sample.app(), nil] {
            #expect(try bed.engine.account(earlier, of: app, in: Sample.partition)?.id == alice.id)
        }
        let nobody = bed.silent { $0.query.account = .id(String(repeating: "a", count: 32)) }
        await #expect { try await bed.engine.acquireSilent(nobody) } throws: {
            ($0 as? BrokerError)?.kind == .accountNotFound
        }
        _ = try await bed.engine.remove(earlier, from: Sample.app(), in: Sample.partition)
        #expect(try accounts(bed.engine).filter(\.signedIn).map(\.id) == [bob.id])
    }
}
