import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Account selection")
struct AccountChoiceTests {
    private func choose(
        _ selector: AccountReference?, from entries: [KnownAccount],
        signOut: SignOutRecord? = nil, for app: AppRegistration = Sample.app(),
        at authority: Authority = Sample.authority(), isAlive: (KnownAccount) -> Bool = { _ in true }
    ) -> String {
        var known = KnownAccounts(entries)
        if let signOut { known.apply(.put(Sample.stored(signOut))) }
        switch AccountChoice.choose(selector, from: known, for: app, at: authority, isAlive: isAlive) {
        case .account(let entry): return entry.account.username
        case .unknown: return "unknown"
        case .signedOut: return "signed out"
        case .nobody: return "nobody"
        case .ambiguous(let accounts): return "ambiguous " + accounts.map(\.username).joined(separator: "+")
        }
    }

    @Test("the only account that fits need not be named")
    func onlyOne() {
        #expect(choose(nil, from: [Sample.account("alice")]) == "alice")
    }

    @Test(
        "each of many accounts is found, and the only signed-in one needs no name", arguments: [63, 64, 65, 200])
    func many(count: Int) {
        let people = (0..<count).map { Sample.account("user\($0)", signedIn: $0 == 7) }
        #expect(people.allSatisfy { choose(.id($0.account.id), from: people) != "unknown" })
        #expect(choose(nil, from: people) == "user7")
        #expect(KnownAccounts(people).entries.count == count)
    }

    @Test("values cached with an account are dropped when the account changes")
    func remembered() throws {
        var known = KnownAccounts([Sample.account("alice")])
        #expect(known.entries[0].written { [1] } == [1])
        #expect(known.entries[0].written { [2] } == [1])
        var record = known.entries[0].stored.record
        record.name = "Alice Example"
        let changed = Sample.entry(record)
        known.apply(.put(changed.stored), changed)
        #expect(known.entries.map(\.account.name) == ["Alice Example"])
        #expect(known.entries[0].written { [3] } == [3])
    }

    @Test("several accounts that fit are ambiguous, and the error lists them")
    func several() {
        #expect(choose(nil, from: [Sample.account("alice"), Sample.account("bob")]) == "ambiguous alice+bob")
    }

    @Test("an account of another provider, or of another issuer on the same host, does not fit")
    func otherProvider() {
        let elsewhere = Sample.account("carol", at: Sample.authority("https://other.example.org/realm"))
        let otherRealm = Sample.account("dave", at: Sample.authority("https://id.example.org/other"))
        #expect(choose(nil, from: [Sample.account("alice"), elsewhere, otherRealm]) == "alice")
        #expect(choose(.username("carol"), from: [elsewhere]) == "unknown")
    }

    @Test("a username matches in any case, an id only exactly")
    func selectors() {
        let alice = Sample.account("Alice@Example.org")
        #expect(choose(.username("alice@example.ORG"), from: [alice]) == "Alice@Example.org")
        #expect(choose(.id(alice.account.id), from: [alice]) == "Alice@Example.org")
        #expect(choose(.id(alice.account.id.uppercased()), from: [alice]) == "unknown")
    }

    @Test("a signed-out account is not used, and does not make another one ambiguous")
    func signedOut() {
        let gone = Sample.account("alice", signedIn: false)
        #expect(choose(nil, from: [gone]) == "signed out")
        #expect(choose(.username("alice"), from: [gone]) == "signed out")
        #expect(choose(nil, from: [gone, Sample.account("bob")]) == "bob")
    }

    @Test("the signed-in account is meant if two share a username")
    func oneNameTwice() {
        let former = Sample.account("alice", subject: "1", signedIn: false)
        let present = Sample.account("Alice", subject: "2")
        #expect(choose(.username("alice"), from: [former, present]) == "Alice")
        #expect(choose(.username("alice"), from: [present, former]) == "Alice")
        #expect(choose(.id(former.account.id), from: [former, present]) == "signed out")
        let second = Sample.account("ALICE", subject: "3", createdAt: Sample.now + 1)
        let all = [former, present, second]
        #expect(choose(.username("alice"), from: all) == "ambiguous Alice+ALICE")
        #expect(choose(.username("alice"), from: all) { $0.account.username == "ALICE" } == "ALICE")
        #expect(choose(.username("alice"), from: all) { _ in false } == "ambiguous Alice+ALICE")
        #expect(choose(.id(second.account.id), from: all) == "ALICE")
    }

    @Test("removing an account from one app leaves it to the others of the group")
    func perAppSignOut() {
        let (mail, calendar) = (Sample.app("mail", group: "office"), Sample.app("calendar", group: "office"))
        let alice = Sample.account("alice", app: mail)
        let account = alice.stored.record
        let signOut = SignOutRecord(
            group: account.group, app: mail.identity, homeAccountID: account.homeAccountID,
            environment: account.environment, since: Sample.now)
        #expect(choose(nil, from: [alice], signOut: signOut, for: mail) == "signed out")
        #expect(choose(nil, from: [alice], signOut: signOut, for: calendar) == "alice")
    }

    @Test("having no account signed in differs from having signed-out accounts")
    func nobody() {
        #expect(choose(nil, from: []) == "nobody")
    }

    @Test("lists are in the order in which people were first seen")
    func order() {
        var known = KnownAccounts()
        for (name, createdAt) in [("bob", Int64(9)), ("zoe", 5), ("amy", 9)] {
            let entry = Sample.account(name, createdAt: createdAt)
            known.apply(.put(entry.stored), entry)
        }
        #expect(known.entries.map(\.account.username) == ["zoe", "amy", "bob"])
    }
}
