import FoundationEssentials

/// Decides whether the redirect URI of a request is registered.
enum RedirectURIRules {
    /// Simple string comparison (RFC 9700, section 2.1), with the one exception of RFC 8252, section 7.3: the app may
    /// choose the port of a loopback redirect.
    static func accepts(_ uri: String, registered: [String]) -> Bool {
        if registered.contains(uri) { return true }
        guard let asked = LoopbackURI(uri) else { return false }
        return registered.contains { LoopbackURI($0) == asked }
    }
}

/// An `http` URI on the loopback interface, without its port.
private struct LoopbackURI: Equatable {
    let host: String
    let path: String
    let query: String?

    init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme == "http", parts.user == nil, parts.password == nil,
            parts.fragment == nil, let host = parts.host
        else { return nil }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard ["127.0.0.1", "::1", "localhost"].contains(bare) else { return nil }
        self.host = bare
        path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        query = parts.percentEncodedQuery
    }
}
