import BrokerSystem
import Testing

@Suite("A group that may write the configuration")
struct UserPrivateGroupTests {
    private let ada = UserPrivateGroup.Account(name: "ada", group: 1000)

    @Test("is the user's own: the one of their account, of their name, without other members")
    func own() {
        for members in [[], ["ada"]] {
            #expect(UserPrivateGroup.isPrivate(.init(name: "ada", members: members), to: ada, isPrimary: true))
        }
    }

    @Test("is no group that others are in, nor one that all users have, such as users")
    func shared() {
        #expect(!UserPrivateGroup.isPrivate(.init(name: "users", members: []), to: ada, isPrimary: true))
        #expect(!UserPrivateGroup.isPrivate(.init(name: "ada", members: ["eve"]), to: ada, isPrimary: true))
        #expect(!UserPrivateGroup.isPrivate(.init(name: "ada", members: ["ada", "eve"]), to: ada, isPrimary: true))
        #expect(!UserPrivateGroup.isPrivate(.init(name: "ada", members: []), to: ada, isPrimary: false))
    }
}
