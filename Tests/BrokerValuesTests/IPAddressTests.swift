import BrokerValues
import Glibc
import Testing

@Suite("Internet addresses")
struct IPAddressTests {
    /// One address of each network that is not globally reachable according to the special-purpose registries.
    @Test(
        "special-purpose addresses are not public",
        arguments: [
            "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "169.254.169.254", "172.16.0.1",
            "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
            "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
            "100::1",
            "100:0:0:1::1", "2001::1", "2001:2::1", "2001:db8::1", "2002:a00:1::1", "2002:7f00:1::", "3fff::1",
            "5f00::1",
            "fc00::1", "fd12::1", "fe80::1", "fec0::1", "ff02::1", "4000::1",
        ])
    func special(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic == false)
    }

    @Test(
        "other addresses are public",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.0",
            "192.0.1.1",
            "192.0.3.1", "198.17.0.1", "223.255.255.255", "2606:4700::1", "2a00::1", "2001:4860::1", "64:ff9b::1.1.1.1",
            "::ffff:1.1.1.1", "2002:101:101::1",
        ])
    func others(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic)
    }

    @Test(
        "numbers have one spelling, as for inet_pton(3)",
        arguments: [
            "127.+1.0.1", "127.1", "0x7f.0.0.1", "127.0.0.1 ", "127.0.0.01x", "١٢٧.0.0.1", "2130706433", "[::1]",
            "fe80::1%lo", "",
        ])
    func spelling(text: String) { #expect(IPAddress(text) == nil) }

    @Test("loopback is 127.0.0.0/8 and ::1, also in an IPv4-mapped address")
    func loopback() {
        for text in ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"] {
            #expect(IPAddress(text)?.isLoopback == true, "\(text)")
        }
        for text in ["128.0.0.1", "::2", "::", "::ffff:10.0.0.1", "1::1"] {
            #expect(IPAddress(text)?.isLoopback == false, "\(text)")
        }
    }

    @Test("a socket address is parsed by its family")
    func sockets() {
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        inet_pton(AF_INET6, "2606:4700::1", &six.sin6_addr)
        let found = withUnsafePointer(to: &six) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { IPAddress($0) }
        }
        #expect(found == IPAddress("2606:4700::1"))
        var local = sockaddr()
        local.sa_family = sa_family_t(AF_UNIX)
        #expect(IPAddress(&local) == nil)
    }
}
