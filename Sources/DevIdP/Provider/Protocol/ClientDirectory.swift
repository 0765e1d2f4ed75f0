/// The registered clients of this provider.
struct ClientDirectory: Sendable {
    private var clients: [String: ProviderClient]
    private let allowsAny: Bool

    init(_ clients: [ProviderClient], allowsAny: Bool) {
        self.clients = Dictionary(clients.map { ($0.id, $0) }) { _, last in last }
        self.allowsAny = allowsAny
    }

    func client(_ id: String) -> ProviderClient? {
        clients[id] ?? (allowsAny ? ProviderClient(id: id) : nil)
    }

    mutating func add(_ client: ProviderClient) { clients[client.id] = client }
}

/// The people in this provider.
struct PeopleDirectory: Sendable {
    private var people: [ProviderUser]

    init(_ people: [ProviderUser]) { self.people = people }

    /// Looks up by user name or mail address.
    func user(_ name: String) -> ProviderUser? {
        people.first { $0.username == name || $0.email.lowercased() == name.lowercased() }
    }

    /// - Returns: false if the name is taken.
    mutating func add(_ person: ProviderUser) -> Bool {
        guard user(person.username) == nil else { return false }
        people.append(person)
        return true
    }
}
