import BrokerValues

/// Whether a host's name or address is on this machine or on a network of its own. Pure: the addresses of a public name are
/// checked when a connection is made (``BrokerOAuth/HTTPClientConfiguration/reachesPrivateAddresses``).
enum PrivateHost {
    static func isPrivate(_ host: String) -> Bool {
        let host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        if let address = IPAddress(host) { return !address.isPublic }
        let labels = host.split(separator: ".").map { $0.lowercased() }
        guard let last = labels.last, labels.count > 1 else { return true }
        // A resolver may take it for a number (RFC 6943, section 3.1.1).
        if last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || last.hasPrefix("0x") { return true }
        return localDomains.contains(last) || host.lowercased().hasSuffix(".home.arpa")
    }

    private static let localDomains: Set<String> = [
        "localhost", "local", "internal", "lan", "home", "corp", "intranet",
    ]
}
