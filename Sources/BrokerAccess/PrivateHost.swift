import Glibc

/// Whether a host's name or address says that it is on this machine or on a network of its own. Pure: a public name that
/// leads to such an address is not seen.
enum PrivateHost {
    static func isPrivate(_ host: String) -> Bool {
        let host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        if let address = v6(host) { return isPrivate(v6: address) }
        if let address = v4(host) { return isPrivate(v4: address) }
        let labels = host.split(separator: ".").map { $0.lowercased() }
        guard let last = labels.last, labels.count > 1 else { return true }
        // Whoever resolves it may take it for a number (RFC 6943, section 3.1.1).
        if last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || last.hasPrefix("0x") { return true }
        return localDomains.contains(last) || host.lowercased().hasSuffix(".home.arpa")
    }

    private static let localDomains: Set<String> = [
        "localhost", "local", "internal", "lan", "home", "corp", "intranet",
    ]

    private static func v4(_ text: String) -> UInt32? {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1 ? UInt32(bigEndian: address.s_addr) : nil
    }

    private static func v6(_ text: String) -> [UInt8]? {
        var address = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, text, &address) == 1 ? address : nil
    }

    /// RFC 6890: this host, private, shared, loopback and link-local networks; multicast and what is reserved.
    private static func isPrivate(v4 address: UInt32) -> Bool {
        let networks: [(UInt32, Int)] = [
            (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
            (0xAC10_0000, 12), (0xC000_0000, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xE000_0000, 3),
        ]
        return networks.contains { network, bits in (address ^ network) >> UInt32(32 - bits) == 0 }
    }

    /// Loopback, unique local and link-local; an address of version 4 in one of version 6 is what that one is.
    private static func isPrivate(v6 address: [UInt8]) -> Bool {
        let isEmbedded = address.prefix(10).allSatisfy { $0 == 0 }
        if isEmbedded || address.prefix(12) == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] {
            return isPrivate(v4: address.suffix(4).reduce(0) { $0 << 8 | UInt32($1) })
        }
        return address[0] & 0xFE == 0xFC || address[0] == 0xFE && address[1] & 0xC0 == 0x80 || address[0] == 0xFF
    }
}
