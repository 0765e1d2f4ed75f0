import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("The reach of a sign-out")
struct SignOutRuleTests {
    @Test("an app's sign-out covers the app, wipe its group, and no app or a shared device everything")
    func reach() {
        #expect(SignOutReach(hasApp: true, wipe: false, isSharedDevice: false) == .app)
        #expect(SignOutReach(hasApp: true, wipe: true, isSharedDevice: false) == .group)
        #expect(SignOutReach(hasApp: false, wipe: false, isSharedDevice: false) == .everything)
        #expect(SignOutReach(hasApp: true, wipe: false, isSharedDevice: true) == .everything)
        #expect(SignOutReach.app.sparesOthers && !SignOutReach.group.sparesOthers)
    }

    private func account(_ name: String, signedIn: Bool = true) -> Account {
        var account = Sample.account(name).account
        account.signedIn = signedIn
        return account
    }

    @Test("current is signed in, previous was the app's last known current one, lastSignedOut signed out last")
    func current() throws {
        let accounts = [account("ann", signedIn: false), account("bob", signedIn: false), account("cem")]
        let times = [accounts[0].id: Sample.now + 5, accounts[1].id: Sample.now + 9]
        func answer(_ currentAt: [String: NumericDate]) throws -> CurrentAccounts {
            try CurrentAccountRule.among(accounts, signedOutAt: times, currentAt: currentAt)
        }
        let new = try answer([:])
        #expect(new.current?.username == "cem" && new.previous == nil && new.lastSignedOut?.username == "bob")
        #expect(try answer([accounts[0].id: Sample.now]).previous?.username == "ann")
        #expect(try answer([accounts[0].id: Sample.now, accounts[2].id: Sample.now]).previous == nil)
        #expect(try CurrentAccountRule.among([], signedOutAt: [:], currentAt: [:]) == CurrentAccounts())
    }

    @Test("several accounts mean no current account")
    func several() {
        let error = #expect(throws: BrokerError.self) {
            try CurrentAccountRule.among([account("ann"), account("bob")], signedOutAt: [:], currentAt: [:])
        }
        #expect(error?.kind == .ambiguousAccount)
        #expect(error?.details.accounts?.map(\.username) == ["ann", "bob"])
    }

    @Test("a sign-in without an account asks for the password when all are signed out")
    func login() {
        func isDue(_ entries: KnownAccount...) -> Bool {
            let known = KnownAccounts(entries)
            return PromptRule.isEverybodySignedOut(among: known, for: Sample.app(), at: Sample.authority())
        }
        #expect(isDue(Sample.account("ann", signedIn: false)))
        #expect(!isDue(Sample.account("ann", signedIn: false), Sample.account("bob")))
        #expect(!isDue(Sample.account("ann")))
        #expect(!isDue())
        // Another issuer of the same host has people of its own.
        let neighbour = Sample.authority("https://id.example.org/other")
        #expect(isDue(Sample.account("ann", signedIn: false), Sample.account("bob", at: neighbour)))
        #expect(!isDue(Sample.account("bob", at: neighbour, signedIn: false)))
    }
}
