import BrokerValues
import Testing

@Suite("Account names in questions to the user")
struct PeopleNamesTests {
    private func names(_ usernames: String...) -> PeopleNames {
        PeopleNames(
            usernames.enumerated().map { place, name in
                Account(
                    id: "id-\(place)", username: name, environment: "idp.example", homeAccountId: "home-\(place)",
                    authority: "https://idp.example")
            })
    }

    @Test("a distinct name is shown without its id")
    func alone() {
        let names = names("ada@example.org", "bob@example.org")
        #expect(names["id-0"] == "ada@example.org" && names["id-1"] == "bob@example.org" && names["id-2"] == nil)
        #expect(self.names("\u{430}da")["id-0"] == "\u{430}da")
    }

    @Test(
        "names that look the same are followed by their ids",
        arguments: [
            ("ada", "ada"), ("ada", "ADA"), ("bill", "bi1l"), ("bob", "b0b"), ("Iris", "lris"),
        ])
    func equalLooks(one: String, other: String) {
        let names = names(one, other)
        #expect(names["id-0"] == "\(one) (id id-0)" && names["id-1"] == "\(other) (id id-1)")
    }

    @Test(
        "a name with letters beyond ASCII is followed by its id if there are several accounts",
        arguments: ["\u{430}da", "ad\u{200D}a", "ada\u{3164}", "ada\u{FE0F}", "\u{2800}"])
    func otherLetters(name: String) {
        #expect(names("ada", name)["id-1"] == "\(name) (id id-1)")
    }
}
