import Glibc

/// An address of the Internet Protocol, version 4 or 6.
package struct IPAddress: Sendable, Hashable {
    /// The bytes in network order: 4 or 16.
    private let bytes: [UInt8]

    /// - Parameter text: as inet_pton(3) reads it, which accepts one spelling of each number and no sign.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    /// - Parameter address: as large as its family requires.
    /// - Returns: nil for another family.
    package init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
        case AF_INET6:
            bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
        default: return nil
        }
    }

    /// Whether it is this machine's own. An IPv4 address that is written as IPv6 is treated as IPv4.
    package var isLoopback: Bool {
        if let inner = embedded { return inner.isLoopback }
        return bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether it refers to the same host everywhere on the internet, by the registries of special-purpose addresses (RFC 6890,
    /// https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry); false for multicast.
    package var isPublic: Bool {
        if let inner = embedded { return inner.isPublic }
        let isGlobalUnicast = bytes.count == 4 || bytes[0] & 0xE0 == 0x20
        return isGlobalUnicast && !Self.special.contains { $0.holds(self) }
    }

    /// The IPv4 address in IPv4-mapped addresses (RFC 4291, section 2.5.5), the well-known prefix of NAT64 (RFC 6052) and 6to4
    /// (RFC 3056).
    private var embedded: IPAddress? {
        guard bytes.count == 16 else { return nil }
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        if isMapped || bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return IPAddress(bytes: Array(bytes.suffix(4)))
        }
        return bytes.starts(with: [0x20, 0x02]) ? IPAddress(bytes: Array(bytes[2..<6])) : nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
}

extension IPAddress {
    /// All addresses with the same leading bits.
    package struct Network: Sendable {
        private let start: [UInt8]
        private let bits: Int

        /// - Parameter text: `192.0.2.0/24`.
        package init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let start = IPAddress(String(parts[0])), let bits = UInt8(parts[1]),
                Int(bits) <= start.bytes.count * 8
            else { return nil }
            (self.start, self.bits) = (start.bytes, Int(bits))
        }

        package func holds(_ address: IPAddress) -> Bool {
            let bytes = address.bytes
            guard bytes.count == start.count else { return false }
            return (0..<bits).allSatisfy { bit in
                let difference: UInt8 = bytes[bit / 8] ^ start[bit / 8]
                return difference << (bit % 8) < 0x80
            }
        }
    }

    /// The special-purpose networks that are not public; for IPv6 only those within the global unicast addresses, 2000::/3, as no
    /// other address is public.
    private static let special: [Network] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
    ].compactMap { Network($0) }
}
