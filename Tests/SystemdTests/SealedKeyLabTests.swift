import BrokerTestSupport
import Foundation
import Testing

/// Debian 12's systemd has no io.systemd.Credentials; this is the one of Debian 13, with its own libraries, behind a socket unit.
private struct CredentialService {
    let lab: SystemdLab

    static func install(in lab: SystemdLab, _ bed: TestBed) async throws -> CredentialService {
        // It fetches packages: with the proxy that this machine needs for that.
        let made = try await bed.run(
            Launch(PackageTree.fixture("later-systemd"), [], environment: ProcessInfo.processInfo.environment))
        guard made.succeeded else { throw ProcessFailure("Debian 13's systemd cannot be had: \(made)") }
        let place = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let libraries = "\(place)/usr/lib/x86_64-linux-gnu"
        let units = [
            "systemd-creds.socket": """
            [Socket]
            ListenStream=/run/systemd/io.systemd.Credentials
            SocketMode=0666
            Accept=yes

            """,
            // Later ones name the descriptor by themselves.
            "systemd-creds@.service": """
            [Service]
            ExecStart=-/usr/bin/env LISTEN_FDNAMES=varlink \(libraries)/ld-linux-x86-64.so.2 \
            --library-path \(libraries):\(libraries)/systemd \(place)/usr/bin/systemd-creds
            StandardError=journal

            """,
        ]
        for (name, text) in units {
            try await lab.root("sh", "-c", "printf '%s' \"$1\" > /etc/systemd/system/\(name)", "sh", text)
        }
        try await lab.root("systemctl", "daemon-reload")
        return CredentialService(lab: lab)
    }

    func start() async throws { try await lab.root("systemctl", "start", "systemd-creds.socket") }
    func stop() async throws { try await lab.root("systemctl", "stop", "systemd-creds.socket") }
}

@Suite("A key that the real io.systemd.Credentials seals", .needsLab)
struct SealedKeyLabTests {
    @Test("a person's vault opens by it after a restart, waits for it, and opens for nobody else")
    func story() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            let service = try await CredentialService.install(in: lab, bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user(
                "brokerctl", "apps", "add", "notes", "--client-id", "c", "--authority", "https://login.example.org")
            let early = try await lab.attempt("brokerctl", "key", "set-source", "credential")
            #expect(!early.succeeded && early.errors.contains("systemd 256"), "\(early)")

            try await service.start()
            let status = try await lab.user("brokerctl", "key", "status")
            #expect(status.contains("credential"), "\(status)")
            try await lab.user("brokerctl", "key", "set-source", "credential")
            let keys = try await lab.user("sh", "-c", "find ~ -name '*.key'")
            #expect(keys.isEmpty, "\(keys)")
            try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            #expect(try await lab.user("brokerctl", "apps", "list").contains("notes"))

            try await service.stop()
            try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            let locked = try await lab.attempt("brokerctl", "unlock")
            #expect(!locked.succeeded && locked.errors.contains("io.systemd.Credentials does not answer"), "\(locked)")
            try await service.start()
            try await lab.user("brokerctl", "unlock")
            #expect(try await lab.user("brokerctl", "apps", "list").contains("notes"))

            // Somebody else with a copy.
            try await lab.add("bob")
            try await lab.user("systemctl", "--user", "stop", "brokerd.socket", "brokerd.service")
            let state = "cp -r /home/\(SystemdLab.user)/.config/brokerd /home/bob/.config/ && chown -R bob: /home/bob"
            try await lab.root("sh", "-c", "mkdir -p /home/bob/.config && \(state)")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket", as: "bob")
            let foreign = try await lab.attempt("brokerctl", "apps", "list", as: "bob")
            #expect(!foreign.succeeded && foreign.errors.contains("for the user"), "\(foreign)")
        }
    }
}
