import BrokerSystem
import Testing

@Suite("Addresses of Unix sockets")
struct UnixAddressTests {
    @Test("a path of 107 bytes has an address, and a longer one has none")
    func length() {
        #expect(UnixAddress.longestPath == 107)
        #expect(UnixAddress(path: String(repeating: "p", count: 107)) != nil)
        #expect(UnixAddress(path: String(repeating: "p", count: 108)) == nil)
    }

    @Test("a path with a NUL has no address")
    func zero() {
        #expect(UnixAddress(path: "/run/broker.sock\0.other") == nil)
    }
}
