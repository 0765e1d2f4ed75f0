import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// The effect of each call of the maintainer scripts on the machine's broker: the table of docs/operations.md.
@Suite("dpkg, with one broker for the whole machine", .needsPackages)
struct SystemPackageCallTests {
    @Test(
        "users' data survives every call but a purge, and the socket stays open while it is installed"
    )
    func calls() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            try await lab.configureSystem("oauth.allow_http_loopback = true\n")
            for package in ["token-broker", "token-broker-system"] { try await lab.install(package) }
            try await lab.user(
                "brokerctl", "apps", "add", "work", "--client-id", "demo-one", "--authority", provider.issuer)
            func apps() async throws -> String { try await lab.user("brokerctl", "apps", "list", "--names") }
            func opened() async throws -> String {
                try await lab.root(
                    "systemctl", "show", "--property=ActiveEnterTimestampMonotonic,ActiveState",
                    "brokerd-system.socket")
            }
            let before = try await opened()
            #expect(try await apps() == "work\n" && before.contains("=active"), "\(before)")

            // An upgrade, a downgrade, the same once more.
            try await lab.dpkg("--install", DebianPackages.changed("token-broker-system", in: bed))
            #expect(try await apps() == "work\n")
            for _ in 1...2 {
                try await lab.install("token-broker-system")
                #expect(try await apps() == "work\n")
            }
            #expect(try await opened() == before)

            try await lab.dpkg("--remove", "token-broker-system")
            #expect(try await !lab.rootAttempt("test", "-S", "/run/brokerd/broker.sock").succeeded)
            try await lab.root("test", "-e", "/var/lib/brokerd/vault.db")
            try await lab.install("token-broker-system")
            #expect(try await apps() == "work\n")

            try await lab.dpkg("--purge", "token-broker-system")
            #expect(try await !lab.rootAttempt("test", "-e", "/var/lib/brokerd").succeeded)
            try await lab.install("token-broker-system")
            #expect(try await apps().isEmpty)
        }
    }
}
