import BrokerTestSupport
import Foundation
import Testing

/// io.systemd.Credentials, which systemd has since version 256.
private struct CredentialService {
    let lab: SystemdLab

    func start() async throws { try await lab.root("systemctl", "start", "systemd-creds.socket") }
    func stop() async throws {
        try await lab.root("systemctl", "stop", "systemd-creds.socket")
        try await lab.root("rm", "--force", "/run/systemd/io.systemd.Credentials")
    }
}

@Suite("A key that the real io.systemd.Credentials seals", .needsLab)
struct SealedKeyLabTests {
    @Test("a person's vault waits for it, opens with it after a restart, and opens for no other user")
    func story() async throws {
        try await withTestBed { bed in
            // Debian 12's systemd does not have it.
            let lab = try await SystemdLab.boot(in: bed, on: .debian("trixie"))
            let service = CredentialService(lab: lab)
            try await service.stop()
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("notes")
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

            // Another user with a copy.
            try await lab.add("bob")
            try await lab.user("systemctl", "--user", "stop", "brokerd.socket", "brokerd.service")
            let state =
                "cp -r /home/\(SystemdLab.user)/.local/state/brokerd /home/bob/.local/state/ && chown -R bob: /home/bob"
            try await lab.root("sh", "-c", "mkdir -p /home/bob/.local/state && \(state)")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket", as: "bob")
            let foreign = try await lab.attempt("brokerctl", "apps", "list", as: "bob")
            #expect(!foreign.succeeded && foreign.errors.contains("for the user"), "\(foreign)")
        }
    }
}
