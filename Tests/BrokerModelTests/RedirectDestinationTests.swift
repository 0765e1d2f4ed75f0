import BrokerModel
import BrokerValues
import Testing

@Suite("Redirect URIs")
struct RedirectDestinationTests {
    @Test("without a redirect URI the broker listens on any port of 127.0.0.1")
    func none() throws {
        #expect(try RedirectDestination.parse(nil) == .loopback(.anyPort(host: "127.0.0.1", path: "/")))
    }

    @Test("a loopback URI without a port keeps its path and uses any port (RFC 8252, section 7.3)")
    func anyPort() throws {
        #expect(
            try RedirectDestination.parse("http://127.0.0.1/cb") == .loopback(.anyPort(host: "127.0.0.1", path: "/cb")))
        #expect(try RedirectDestination.parse("http://[::1]/cb/") == .loopback(.anyPort(host: "[::1]", path: "/cb/")))
        #expect(try RedirectDestination.parse("http://localhost") == .loopback(.anyPort(host: "localhost", path: "/")))
    }

    @Test("a port in the URI is used")
    func fixedPort() throws {
        #expect(
            try RedirectDestination.parse("http://127.0.0.1:7777/cb")
                == .loopback(.fixed(host: "127.0.0.1", port: 7777, path: "/cb")))
        #expect(
            try RedirectDestination.parse("http://[::1]:7777/cb")
                == .loopback(.fixed(host: "[::1]", port: 7777, path: "/cb")))
    }

    @Test("an explicit port 80 is used like any other", arguments: ["127.0.0.1", "[::1]", "localhost"])
    func ownPort(host: String) throws {
        #expect(
            try RedirectDestination.parse("http://\(host):80/cb")
                == .loopback(.fixed(host: host, port: 80, path: "/cb")))
        #expect(
            try RedirectDestination.parse("HTTP://\(host.uppercased()):80")
                == .loopback(.fixed(host: host, port: 80, path: "/")))
    }

    @Test("a custom scheme or a web page is returned by the app")
    func elsewhere() throws {
        #expect(try RedirectDestination.parse("msauth.app://auth") == .elsewhere("msauth.app://auth"))
        #expect(try RedirectDestination.parse("https://app.example.org/cb") == .elsewhere("https://app.example.org/cb"))
    }

    @Test(
        "an invalid redirect URI is refused",
        arguments: [
            "", "auth", "http://example.org/cb", "http://127.0.0.1/cb#x", "http://127.0.0.1/cb?x=1",
            "http://127.0.0.1/c b",
            "http://127.0.0.1:99999/cb", "http://127.0.0.1:/cb", "http://127.0.0.1:0/cb", "://x",
        ])
    func invalid(uri: String) {
        #expect(throws: BrokerError.self) { try RedirectDestination.parse(uri) }
    }

    @Test(
        "a redirect URI is sent as registered, with the chosen port if it names none",
        arguments: [
            ("http://localhost:8080", "http://localhost:8080"), ("http://localhost:8080/", "http://localhost:8080/"),
            ("HTTP://LocalHost:8080/Cb", "HTTP://LocalHost:8080/Cb"), ("http://127.0.0.1", "http://127.0.0.1:4711"),
            ("http://[::1]/cb", "http://[::1]:4711/cb"), ("http://app.localhost/", "http://app.localhost:4711/"),
        ])
    func sent(registered: String, expected: String) {
        #expect(RedirectDestination.sent(registered, listeningAt: "http://127.0.0.1:4711/") == expected)
    }

    @Test("without a registered URI the broker's own address is sent")
    func unregistered() {
        #expect(
            RedirectDestination.sent(nil, listeningAt: "http://127.0.0.1:4711/") == "http://127.0.0.1:4711/")
    }

    @Test("only names below localhost are loopback")
    func localhostNames() throws {
        #expect(
            try RedirectDestination.parse("http://app.localhost:80/")
                == .loopback(.fixed(host: "app.localhost", port: 80, path: "/")))
        for host in ["localhost.example", "xlocalhost", "localhost.localhost.example"] {
            #expect(throws: BrokerError.self) { try RedirectDestination.parse("http://\(host)/") }
        }
    }
}
