import BrokerModel
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Groups and account ids")
struct IdentityTests {
    private func app(
        _ name: String, clientID: String = "client", authority: String = "https://id.example", group: String? = nil,
        isAdHoc: Bool = false
    ) throws -> AppRegistration {
        AppRegistration(
            name: name, clientID: clientID,
            authority: try Authority(parsing: authority, allowHTTPLoopback: false), group: group, isAdHoc: isAdHoc)
    }

    @Test("apps that name one group share it, regardless of their clients")
    func sameGroup() throws {
        let mail = try app("mail", clientID: "1", group: "office")
        let calendar = try app("calendar", clientID: "2", group: "office")
        #expect(mail.effectiveGroup == calendar.effectiveGroup)
        #expect(mail.identity != calendar.identity)
    }

    @Test("an app's name or client id cannot make it a member of a group that it does not name")
    func noImpostors() throws {
        let apps = try [
            app("office"), app("mail", group: "office"), app("mail", group: "app:office"), app("app:office"),
            app("group:office"), app("adhoc:client https://id.example"), app("x", isAdHoc: true),
            app("x", clientID: "client https://id.example", isAdHoc: true),
            app("x", clientID: "client", authority: "https://id.example/other", isAdHoc: true),
            app("x", group: "adhoc:client https://id.example"), app("x", clientID: "other", isAdHoc: true),
            app(""), app("x", group: ""),
        ]
        #expect(Set(apps.map(\.effectiveGroup)).count == apps.count)
    }

    @Test("an ad hoc client's identity is its client id and authority, not its name")
    func adHoc() throws {
        let one = try app("one", isAdHoc: true)
        let two = try app("two", isAdHoc: true)
        #expect(one.effectiveGroup == two.effectiveGroup)
        #expect(try app("one").effectiveGroup != one.effectiveGroup)
    }

    @Test("an ad hoc client is one app in all tenants of a cloud, and another in another cloud")
    func adHocTenants() throws {
        func group(_ authority: String) throws -> GroupID {
            try app("x", authority: authority, isAdHoc: true).effectiveGroup
        }
        let common = try group("https://login.microsoftonline.com/common")
        #expect(try group("https://login.windows.net/contoso.example") == common)
        #expect(try group("https://login.microsoftonline.us/common") != common)
        #expect(try group("https://login.microsoftonline.com/tfp/contoso/b2c_1_in") != common)
        #expect(try group("https://id.example/a") != group("https://id.example/b"))
    }

    @Test(
        "earlier account ids are still accepted: one for all apps, another for each uid and provider")
    func earlierAccountIDs() {
        let anna = HomeAccountID(subject: "anna", issuer: "https://id.example")
        let id = anna.earlierAccountID(in: Partition(uid: 1000), environment: "id.example")
        #expect(
            id
                == HomeAccountID(rawValue: "anna@https://id.example").earlierAccountID(
                    in: Partition(uid: 1000), environment: "id.example"))
        #expect(id.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        let others = [
            anna.earlierAccountID(in: Partition(uid: 1001), environment: "id.example"),
            anna.earlierAccountID(in: Partition(uid: 1000), environment: "id.example:8443"),
            HomeAccountID(subject: "anna", issuer: "https://id.example/b")
                .earlierAccountID(in: Partition(uid: 1000), environment: "id.example"),
            HomeAccountID(subject: "Anna", issuer: "https://id.example")
                .earlierAccountID(in: Partition(uid: 1000), environment: "id.example"),
        ]
        #expect(Set(others + [id]).count == 5)
        #expect(HomeAccountID.isEarlier(accountID: id))
        // Apps and scripts store these ids: a change here would lose their accounts.
        #expect(id == "5a59a6048db25277b32297c6909f3692")
    }

    @Test("ids and groups are stored as plain strings")
    func coding() throws {
        let id = HomeAccountID(rawValue: "uid.utid")
        let group = GroupID(rawValue: "group:office")
        #expect(try JSONEncoder().encode([id]) == Data("[\"uid.utid\"]".utf8))
        #expect(try JSONDecoder().decode([HomeAccountID].self, from: JSONEncoder().encode([id])) == [id])
        #expect(try JSONEncoder().encode([group]) == Data("[\"group:office\"]".utf8))
        #expect(try JSONDecoder().decode([GroupID].self, from: JSONEncoder().encode([group])) == [group])
    }

    @Test("accounts, groups and clients with canonically equivalent names are different, also as keys")
    func lookAlike() {
        let letters = ["K", "\u{212A}", "\u{e9}", "e\u{301}"]
        let people = letters.map { HomeAccountID(subject: $0, issuer: "https://id.example") }
        let groups = letters.map { GroupID(named: $0, identity: "app:mail") }
        let owners = letters.map {
            TokenOwner(group: groups[0], clientID: $0, homeAccountID: people[0], environment: "id.example")
        }
        #expect(Set(people).count == 4 && Set(groups).count == 4 && Set(owners).count == 4)
        #expect(people[0] != people[1] && owners[2] != owners[3])
    }
}
