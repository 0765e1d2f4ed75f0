import BrokerValues

/// A set of scopes as the cache compares them: split at white space, trimmed, in lower case, unordered (MSAL, "Silent": requested
/// scopes must be a subset of the cached token's).
package struct Scopes: Sendable, Hashable {
    /// In lower case, sorted, without duplicates.
    package let normalized: [String]
    /// As given, for requests to the provider: in order, without duplicates.
    package let asGiven: [String]

    package init(_ scopes: [String]) {
        if scopes.count == 1, Self.isOneWord(scopes[0]) {
            asGiven = scopes
            normalized = [scopes[0].lowercased()]
            return
        }
        let words = scopes.flatMap(Self.words)
        let sorted = words.map { $0.lowercased() }.sorted()
        // In other texts, equal scopes need not be adjacent: Swift's order is undefined if their forms differ.
        if words.allSatisfy(Self.isASCII), zip(sorted, sorted.dropFirst()).allSatisfy({ $0 != $1 }) {
            (asGiven, normalized) = (words, sorted)
        } else {
            var seen = Set<String>()
            asGiven = words.filter { seen.insert($0.lowercased()).inserted }
            normalized = seen.sorted()
        }
    }

    /// Plain ASCII without blanks: true for nearly all scopes, and checked without looking up Unicode properties.
    private static func isOneWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    private static func words(of text: String) -> [String] {
        if isOneWord(text) { return [text] }
        guard isASCII(text) else {
            return text.split(whereSeparator: \.isWhitespace).map(String.init)
        }
        return text.utf8.split { $0 == 0x20 || (0x09...0x0d).contains($0) }.map { String(Substring($0)) }
    }

    /// A `scope` value of RFC 6749, section 3.3.
    package init(parameter: String) { self.init([parameter]) }

    package var parameter: String { asGiven.joined(separator: " ") }
    package var isEmpty: Bool { normalized.isEmpty }

    package func isSubset(of other: Scopes) -> Bool {
        // Both are sorted; this runs for every cached response.
        var rest = other.normalized[...]
        for scope in normalized {
            rest = rest.drop { $0 < scope }
            guard rest.first == scope else { return false }
        }
        return true
    }
    package func union(_ other: Scopes) -> Scopes { Scopes(asGiven + other.asGiven) }
    package func subtracting(_ other: Scopes) -> Scopes {
        let gone = Set(other.normalized)
        return Scopes(asGiven.filter { !gone.contains($0.lowercased()) })
    }

    package func intersection(_ other: Scopes) -> Scopes {
        let common = Set(other.normalized)
        return Scopes(asGiven.filter { common.contains($0.lowercased()) })
    }

    package static func == (left: Scopes, right: Scopes) -> Bool { left.normalized == right.normalized }
    package func hash(into hasher: inout Hasher) { hasher.combine(normalized) }

    /// Whether it contains one of ``reserved``.
    package var namesReserved: Bool { normalized.contains(where: Self.reserved.normalized.contains) }

    /// The scopes that the broker adds to every request; an app that names one gets an error (MSAL, "Scopes").
    package static let reserved = Scopes(["openid", "profile", "offline_access"])

    /// The user's identity, and the scopes that the broker adds: in nearly every token, without further rights.
    package static let harmless = reserved.union(Scopes(["email"]))
}
