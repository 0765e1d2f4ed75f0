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
            let before = try await lab.socketOpened()
            #expect(try await apps() == "work\n" && before.contains("=active"), "\(before)")

            // An upgrade, a downgrade, the same once more.
            try await lab.dpkg("--install", DebianPackages.changed("token-broker-system", in: bed))
            #expect(try await apps() == "work\n")
            for _ in 1...2 {
                try await lab.install("token-broker-system")
                #expect(try await apps() == "work\n")
            }
            #expect(try await lab.socketOpened() == before)

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

    /// Debian policy, chapter 6: dpkg's calls after a failure.
    @Test("a failed dpkg call leaves the system broker running, with its socket and its records")
    func failures() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            for package in ["token-broker", "token-broker-system"] { try await lab.install(package) }
            try await lab.addApp("work")
            let before = try await lab.socketOpened()
            func isAsBefore(_ call: String) async throws {
                #expect(try await lab.user("brokerctl", "apps", "list", "--names") == "work\n", "\(call)")
                #expect(try await lab.socketOpened() == before, "\(call)")
                #expect(try await lab.service("ActiveState") == "active", "\(call)")
            }

            for package in ["token-broker", "token-broker-system"] {
                // The installed prerm fails: dpkg calls the new one (failed-upgrade), and continues.
                try await lab.failing("prerm", of: package) {
                    try await lab.dpkg("--install", DebianPackages.changed(package, in: bed))
                }
                try await isAsBefore("failed-upgrade of \(package)")
                // The installed postrm fails: the same with the new postrm.
                try await lab.failing("postrm", of: package) {
                    try await lab.dpkg("--install", DebianPackages.changed(package, in: bed))
                }
                try await isAsBefore("failed-upgrade of \(package), afterwards")
                // The new preinst refuses: abort-upgrade of both.
                let unwilling = try await DebianPackages.changed(package, in: bed, scripts: ["preinst": "exit 1"])
                #expect(try await !lab.dpkgAttempt("--install", unwilling).succeeded)
                try await isAsBefore("abort-upgrade of \(package)")
                // Another package deconfigures it and is then not unpacked: abort-deconfigure.
                let breaking = try await DebianPackages.make(
                    "breaking", "Breaks: \(package)", in: bed, scripts: ["preinst": "exit 1"])
                #expect(try await !lab.dpkgAttempt("--auto-deconfigure", "--install", breaking).succeeded)
                try await isAsBefore("abort-deconfigure of \(package)")
            }

            // A removal that fails, and an installation after a removal.
            try await lab.failing("prerm", of: "token-broker-system") {
                let removal = try await lab.dpkgAttempt("--remove", "token-broker-system")
                #expect(!removal.succeeded)
            }
            #expect(try await lab.user("brokerctl", "apps", "list", "--names") == "work\n")
            try await lab.dpkg("--remove", "token-broker-system")
            let unwilling = try await DebianPackages.changed(
                "token-broker-system", in: bed, scripts: ["preinst": "exit 1"])
            #expect(try await !lab.dpkgAttempt("--install", unwilling).succeeded)
            try await lab.root("test", "-e", "/var/lib/brokerd/vault.db")
            try await lab.install("token-broker-system")
            #expect(try await lab.user("brokerctl", "apps", "list", "--names") == "work\n")
        }
    }
}

extension SystemdLab {
    /// When the socket of the machine's broker was opened, and whether it still is.
    fileprivate func socketOpened() async throws -> String {
        try await root(
            "systemctl", "show", "--property=ActiveEnterTimestampMonotonic,ActiveState", "brokerd-system.socket")
    }

    /// While `body` runs, a script of an installed package fails when it has done its work. What `body` installs brings its own.
    fileprivate func failing(_ script: String, of package: String, _ body: () async throws -> Void) async throws {
        let file = "/var/lib/dpkg/info/\(package).\(script)"
        try await root("sh", "-c", "cp \(file) /root/kept && echo exit 1 >> \(file)")
        try await body()
        try await root("cp", "/root/kept", file)
    }
}
