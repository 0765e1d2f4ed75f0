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

    @Test("the system broker's door for oidc-agent gets a systemd socket by the steps of its page")
    func door() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed)
            try await lab.user("brokerctl", "status")
            let (section, page) = ("One broker for all", "doors/oidc-agent")
            try await lab.root(
                "sh", "-c", "printf '%s' \"$1\" > /etc/systemd/system/brokerd-system-oidc-agent.socket", "sh",
                Recipe.block(of: section, language: "ini", in: page))
            for step in try Recipe.commands(of: section, in: page) where step.contains("ctl ") {
                try await lab.follow(step)
            }
            // It alone starts the broker, and opens with the broker's own after both were closed.
            for _ in 1...2 {
                let asked = try await lab.attempt(
                    "env", "OIDC_SOCK=/run/brokerd/oidc-agent.sock", "oidc-token", "notes")
                #expect(asked.errors.hasPrefix("Error: No account configured with that short name\n"), "\(asked)")
                try await lab.root("systemctl", "stop", "brokerd-system.socket", "brokerd-system.service")
                #expect(try await !lab.rootAttempt("test", "-e", "/run/brokerd/oidc-agent.sock").succeeded)
                try await lab.root("systemctl", "start", "brokerd-system.socket")
            }
            try await lab.user("brokerctl", "status")
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
                lock.on_suspend = true
                lock.on_screen_lock = true
                access.ask_in_browser = true
                [socket]
                path = "/run/brokerd-sandboxes/other.sock"
                max_connections = 5000
                [vault]
                key_source = ["passphrase"]
                passphrase_command = ["/usr/bin/cat", "/etc/brokerd/passphrase"]

                """)
            let (provider, authorities) = try await PrivateIssuer.start(in: bed)
            try await lab.root(
                "sh", "-c",
                """
                mkdir /etc/brokerd/apps.d && printf '%s' "$2" > /etc/brokerd/apps.d/own.toml
                printf '%s' "$1" > /etc/brokerd/authorities.pem && echo correct horse battery > /etc/brokerd/passphrase
                chgrp brokerd /etc/brokerd/passphrase && chmod 640 /etc/brokerd/passphrase
                """, "sh", authorities,
                "[own]\nclient_id = \"c\"\nauthority = \"\(provider)\"\n")
            let status = try await lab.user("brokerctl", "status")
            #expect(status.contains("passphrase") && !status.contains("locked"), "\(status)")
            let shown = try await lab.user("brokerctl", "config", "show", "oauth.ca_file")
            #expect(shown.contains("/etc/brokerd/authorities.pem"), "\(shown)")
            // The socket is systemd's.
            #expect(try await !lab.rootAttempt("test", "-e", "/run/brokerd-sandboxes/other.sock").succeeded)
            let log = try await lab.said()
            #expect(!log.contains("there are fewer connections"), "\(log)")
            for setting in ["lock.on_suspend", "lock.on_screen_lock", "access.ask_in_browser"] {
                #expect(log.contains("\(setting) has no effect with --system"), "\(log)")
            }
            try await lab.reaches("own")
            try await lab.root("systemctl", "reload", "brokerd-system.service")
            // Without the group no user administers, and all are served.
            let registered = try await lab.attempt(
                "brokerctl", "apps", "add", "work", "--client-id", "c", "--authority", "http://127.0.0.1:1")
            #expect(registered.status == .exited(5), "\(registered)")
        }
    }
}
