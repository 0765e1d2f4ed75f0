import BrokerSystem
import Testing

@Suite("A group that may write the configuration")
struct UserPrivateGroupTests {
    private let ada = UserPrivateGroup.Account(name: "ada", group: 1000)

    @Test("is the account's own group, with the user's name and no other members")
    func own() {
        for members in [[], ["ada"]] {
            #expect(UserPrivateGroup.isPrivate(.init(name: "ada", members: members), to: ada, isPrimary: true))
        }
    }

    @Test("is not a group with other members, nor a common one such as users")
    func shared() {
        #expect(!UserPrivateGroup.isPrivate(.init(name: "users", members: []), to: ada, isPrimary: true))
        #expect(!UserPrivateGroup.isPrivate(.init(name: "ada", members: ["eve"]), to: ada, isPrimary: true))
        #expect(!UserPrivateGroup.isPrivate(.init(name: "ada", members: ["ada", "eve"]), to: ada, isPrimary: true))
        #expect(!UserPrivateGroup.isPrivate(.init(name: "ada", members: []), to: ada, isPrimary: false))
    }
}
