/// The clients this provider knows.
struct ClientDirectory: Sendable {
    private let clients: [String: ProviderClient]
    private let allowsAny: Bool

    init(_ clients: [ProviderClient], allowsAny: Bool) {
        self.clients = Dictionary(clients.map { ($0.id, $0) }) { _, last in last }
        self.allowsAny = allowsAny
    }

    func client(_ id: String) -> ProviderClient? {
        clients[id] ?? (allowsAny ? ProviderClient(id: id) : nil)
    }
}
