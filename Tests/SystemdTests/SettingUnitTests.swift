import BrokerTestSupport
import Foundation
import Testing

/// Settings that name files, in a unit that hides most of them from the broker.
@Suite("Paths of the configuration in the machine's unit", .needsLab)
struct SettingUnitTests {
    @Test("a vault and a key elsewhere need a line in the unit, which the error and the manual name")
    func folders() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(
                in: bed, "[vault]\nstate_dir = \"/srv/broker/vault\"\nkey_dir = \"/srv/broker/key\"\n")
            let steps = try Recipe.commands(of: "Where state is kept", in: "configuration")
            // The folder exists, but the unit does not allow it.
            try await lab.follow(try #require(steps.first))
            let refused = try await lab.attempt("brokerctl", "status")
            #expect(refused.status == .exited(3) && refused.errors.contains("ReadWritePaths="), "\(refused)")
            for step in steps.dropFirst() { try await lab.follow(step) }
            let status = try await lab.user("brokerctl", "status")
            #expect(status.contains("/srv/broker/vault/vault.db"), "\(status)")
            let keys = try await lab.root("ls", "/srv/broker/key")
            #expect(keys.contains(".key"), "\(keys)")
            try await lab.root("systemctl", "stop", "brokerd-system.service")
            try await lab.user("brokerctl", "apps", "list")
        }
    }

    @Test("authorities and a passphrase program are read and run, also with stricter settings for callers")
    func read() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(
                in: bed,
                """
                oauth.ca_file = "/etc/brokerd/authorities.pem"
                browser.command = ["firefox"]
                admin.proof = "setgid"
                [vault]
                key_source = ["passphrase"]
                passphrase_command = ["/usr/bin/cat", "/etc/brokerd/passphrase"]

                """)
            let certificate = try await bed.run(
                Launch(
                    "openssl",
                    [
                        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        "/CN=test", "-keyout", "/dev/null",
                    ]))
            try await lab.root(
                "sh", "-c",
                """
                printf '%s' "$1" > /etc/brokerd/authorities.pem && echo correct horse battery > /etc/brokerd/passphrase
                chgrp brokerd /etc/brokerd/passphrase && chmod 640 /etc/brokerd/passphrase
                """, "sh", certificate.output)
            let status = try await lab.user("brokerctl", "status")
            #expect(status.contains("passphrase") && !status.contains("locked"), "\(status)")
            let shown = try await lab.user("brokerctl", "config", "show", "oauth.ca_file")
            #expect(shown.contains("/etc/brokerd/authorities.pem"), "\(shown)")
            try await lab.root("systemctl", "reload", "brokerd-system.service")
            // Without the group no user administers, and all are served.
            let registered = try await lab.attempt(
                "brokerctl", "apps", "add", "work", "--client-id", "c", "--authority", "http://127.0.0.1:1")
            #expect(registered.status == .exited(5), "\(registered)")
        }
    }
}
