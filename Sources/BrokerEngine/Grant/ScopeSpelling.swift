import BrokerModel

/// Maps granted scopes to the requested ones, however the provider spells them. Pure.
///
/// Providers separate scopes with commas, add or drop a slash, and Entra answers with or without the resource prefix. A scope that
/// is spelled as requested always stands for itself.
package struct ScopeSpelling: Sendable {
    private let requested: Set<String>
    /// The requested spelling, by the folded one.
    private let byFolded: [String: String]
    /// The requested spelling, by the part after the resource; only if scopes begin with one.
    private let byName: [String: String]

    package init(of requested: Scopes, at kind: ProviderKind) {
        self.requested = Set(requested.normalized)
        func table(_ key: (String) -> String) -> [String: String] {
            Dictionary(requested.asGiven.map { (key($0.lowercased()), $0) }, uniquingKeysWith: { first, _ in first })
        }
        byFolded = table(Self.folded)
        byName = kind.rules.scopesNameResources ? table(Self.name) : [:]
    }

    /// - Parameter granted: the granted scopes in the provider's spelling.
    /// - Returns: the scopes; those that were requested have the requested spelling.
    package func requested(_ granted: [Substring]) -> [Substring] {
        let words = granted.flatMap { word in
            requested.contains(word.lowercased()) ? [word] : word.split(separator: ",")
        }
        var missing = requested.subtracting(words.map { $0.lowercased() })
        return words.map { word in
            guard let same = spelled(word.lowercased()), missing.remove(same.lowercased()) != nil else { return word }
            return same[...]
        }
    }

    private func spelled(_ scope: String) -> String? {
        if let same = byFolded[Self.folded(scope)] { return same }
        guard let same = byName[Self.name(scope)], same.contains("/") != scope.contains("/") else { return nil }
        return same
    }

    /// The scope without the slashes that some providers add or drop.
    private static func folded(_ scope: String) -> String {
        scope.split(separator: "/").joined(separator: "/")
    }

    private static func name(_ scope: String) -> String { scope.split(separator: "/").last.map(String.init) ?? scope }
}
