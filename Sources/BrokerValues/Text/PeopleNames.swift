/// The names of a user's accounts, for questions to the user: usernames, followed by the id if they could be mistaken for another
/// account.
package struct PeopleNames: Sendable {
    private var usernames: [String: String] = [:]
    private var looks: [String: Int] = [:]

    package init() {}

    /// - Parameter accounts: an account may be listed several times, for several groups.
    package init(_ accounts: some Sequence<Account>) {
        for account in accounts { usernames[account.id] = account.username }
        for name in usernames.values { looks[Self.look(of: name), default: 0] += 1 }
    }

    /// The name of an account; `nil` for an unknown one.
    package subscript(id: String) -> String? {
        guard let name = usernames[id] else { return nil }
        let isPlain = name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        let isAlone = usernames.count == 1 || isPlain && looks[Self.look(of: name)] == 1
        return isAlone ? name : "\(name) (id \(id))"
    }

    /// A text that is equal for names that look alike in many fonts. Letters beyond ASCII may look like any others, so names with
    /// such letters are always followed by their id.
    private static func look(of name: String) -> String {
        let shown = SafeText(name, atMost: 254, .nothing).text.lowercased()
        return String(
            shown.map { letter in
                switch letter {
                case "0": "o"
                case "1", "i", "|": "l"
                default: letter
                }
            })
    }
}
