import BrokerModel

/// The part that is kept of a list of scopes, which a provider can make arbitrarily long: the requested ones first, then the others
/// in their order, while there is room.
struct BoundedScopes: Sendable {
    static let most = 256
    static let maximumBytes = 32 << 10

    let scopes: Scopes
    /// Whether there were more: the token is then good for more than is recorded.
    let isCut: Bool

    init(_ words: [some StringProtocol], first asked: Scopes) {
        let wanted = Set(asked.normalized)
        var (chosen, room, isCut) = (Set<String>(), Self.maximumBytes, false)
        for isTurnOfWanted in [true, false] {
            for word in words {
                let scope = word.lowercased()
                guard wanted.contains(scope) == isTurnOfWanted, !chosen.contains(scope) else { continue }
                if chosen.count < Self.most, scope.utf8.count <= room {
                    chosen.insert(scope)
                    room -= scope.utf8.count
                } else {
                    isCut = true
                }
            }
        }
        scopes = Scopes(words.filter { chosen.remove($0.lowercased()) != nil }.map { String($0) })
        self.isCut = isCut
    }
}
