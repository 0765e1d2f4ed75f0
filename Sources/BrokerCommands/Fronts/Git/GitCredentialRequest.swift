import BrokerValues

/// What git says about the credential that it wants or has used (gitcredentials(7), git-credential(1): "INPUT/OUTPUT FORMAT").
package struct GitCredentialRequest: Sendable, Equatable {
    package private(set) var scheme = ""
    /// With the port, if the URL has one.
    package private(set) var host = ""
    package private(set) var username: String?
    /// What git used, when it tells how that went.
    package private(set) var secret: String?
    /// The values of the server's `WWW-Authenticate` headers.
    package private(set) var challenges: [String] = []
    private var capabilities: Set<String> = []

    /// - Parameter lines: `key=value` each, up to an empty one. Keys that are not known are passed over: git adds some with
    ///   each version.
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
            // An empty value means that those before it do not count.
            case "wwwauth[]": challenges = value.isEmpty ? [] : challenges + [value]
            case "capability[]": capabilities.insert(value)
            default: break
            }
        }
    }

    /// Since version 2.46 git can send other headers than a password's.
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

    /// What is sent there does not leave the machine.
    var isLoopback: Bool {
        let address = IPAddress(name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name)
        return address?.isLoopback ?? (name == "localhost")
    }
}
