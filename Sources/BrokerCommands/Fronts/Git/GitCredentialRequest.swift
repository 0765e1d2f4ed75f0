import BrokerValues

/// Git's description of a credential that it wants or has used (gitcredentials(7), git-credential(1): "INPUT/OUTPUT FORMAT").
package struct GitCredentialRequest: Sendable, Equatable {
    package private(set) var scheme = ""
    /// With the port, if the URL has one.
    package private(set) var host = ""
    package private(set) var username: String?
    /// The secret that git used, when it reports the result.
    package private(set) var secret: String?
    /// The values of the server's `WWW-Authenticate` headers.
    package private(set) var challenges: [String] = []
    private var capabilities: Set<String> = []

    /// - Parameter lines: `key=value` each, up to an empty one. Unknown keys are ignored: git adds some with each version.
    package init(lines: some Sequence<String>) {
        for line in lines {
            guard !line.isEmpty else { break }
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...])
            switch line[..<equals] {
            case "protocol": scheme = value.lowercased()
            case "host": host = value
            case "username": username = value
            case "password", "credential": secret = value
            // An empty value clears those before it.
            case "wwwauth[]": challenges = value.isEmpty ? [] : challenges + [value]
            case "capability[]": capabilities.insert(value)
            default: break
            }
        }
    }

    /// Since version 2.46, git can send authorization schemes other than Basic.
    var takesOtherSchemes: Bool { capabilities.contains("authtype") }

    func offers(_ scheme: String) -> Bool {
        challenges.contains { $0.prefix { $0 != " " }.lowercased() == scheme }
    }

    /// The host without its port.
    var name: String {
        guard let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) else {
            return host.lowercased()
        }
        return host[..<colon].lowercased()
    }

    /// Data sent to loopback does not leave the machine.
    var isLoopback: Bool {
        let address = IPAddress(name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name)
        return address?.isLoopback ?? (name == "localhost")
    }
}
