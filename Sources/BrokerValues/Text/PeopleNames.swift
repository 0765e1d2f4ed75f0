/// What a person's accounts are called where the person decides: by their usernames, with the id beside those that could be taken
/// for another's.
package struct PeopleNames: Sendable {
    private var usernames: [String: String] = [:]
    private var looks: [String: Int] = [:]

    package init() {}

    /// - Parameter accounts: one account may be listed several times, of several groups.
    package init(_ accounts: some Sequence<Account>) {
        for account in accounts { usernames[account.id] = account.username }
        for name in usernames.values { looks[Self.look(of: name), default: 0] += 1 }
    }

    /// - Returns: nil for an account that is not among them.
    package subscript(id: String) -> String? {
        guard let name = usernames[id] else { return nil }
        let isPlain = name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        let isAlone = usernames.count == 1 || isPlain && looks[Self.look(of: name)] == 1
        return isAlone ? name : "\(name) (id \(id))"
    }

    /// Equal for names that many fonts show alike. Letters beyond ASCII may look like any: those names have their id beside them
    /// in any case.
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
