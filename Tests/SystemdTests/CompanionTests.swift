import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("Programs that a person runs with the broker", .needsLab)
struct CompanionTests {
    @Test("a running broker applies a brokerctl config set at once, or says that it needs a restart")
    func settings() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            // The usual first command starts the daemon.
            _ = try await lab.user("brokerctl", "status")
            let add = ["brokerctl", "apps", "add", "work", "--client-id", "demo-one", "--authority", provider.issuer]
            let refused = try await lab.attempt(add)
            #expect(refused.errors.contains("brokerctl config set oauth.allow_http_loopback true"), "\(refused)")
            let taken = try await lab.user("brokerctl", "config", "set", "oauth.allow_http_loopback", "true")
            #expect(taken.contains("The broker has applied it."), "\(taken)")
            let added = try await lab.attempt(add)
            #expect(added.succeeded, "\(added)")
            let waits = try await lab.user("brokerctl", "config", "set", "socket.max_connections", "100")
            #expect(waits.contains("socket.max_connections takes effect after: systemctl --user restart"), "\(waits)")
            let doctor = try await lab.attempt("brokerctl", "doctor")
            #expect(doctor.output.contains("socket.max_connections takes effect after a restart."), "\(doctor)")
            try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            #expect(try await !lab.attempt("brokerctl", "doctor").output.contains("takes effect after a restart"))
            try await lab.user(
                "sh", "-c",
                "echo '# by hand' >> ~/.config/brokerd/config.toml; touch -d '+2 seconds' ~/.config/brokerd/config.toml"
            )
            let changed = try await lab.attempt("brokerctl", "doctor")
            #expect(changed.output.contains("was changed after the broker had read it."), "\(changed)")
        }
    }

    @Test("a unit stores a token in a file per the recipe, brokerctl shows the log, and git finds its helper")
    func tokenFile() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("brokerctl", "config", "set", "oauth.allow_http_loopback", "true")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("work", at: provider)
            let unit = try Recipe.block(of: "Token files", language: "ini")
            try await lab.user(
                "sh", "-c",
                "mkdir -p ~/.config/systemd/user && printf '%s' \"$1\" > ~/.config/systemd/user/token-file@.service",
                "sh", unit)
            try await lab.user("systemctl", "--user", "daemon-reload")
            try await lab.signIn("work", at: provider)

            let token = try await lab.user("brokerctl", "token", "--app", "work").trimmingCharacters(in: .newlines)
            try await lab.user("systemctl", "--user", "start", "token-file@work")
            let show = "cat $XDG_RUNTIME_DIR/token-file-work/token"
            try await eventually("the token is in the file") { try await lab.attempt("sh", "-c", show).output == token }
            try await lab.user("systemctl", "--user", "stop", "token-file@work")
            #expect(try await !lab.attempt("sh", "-c", "test -e $XDG_RUNTIME_DIR/token-file-work").succeeded)
            #expect(try await lab.property("Result", of: "token-file@work.service") == "success")

            let unread = try await lab.attempt("brokerctl", "logs")
            #expect(unread.status == .exited(1) && unread.errors.contains("systemd-journal"), "\(unread)")
            // With a journal on disk, as in Debian, each user can read their own entries.
            try await lab.root(
                "sh", "-c",
                """
                mkdir -p /var/log/journal && sed -i s/volatile/persistent/ /etc/systemd/journald.conf.d/lab.conf \
                    && systemctl restart systemd-journald && journalctl --flush
                """)
            try await lab.user("brokerctl", "apps", "add", "other", "--client-id", "id", "--authority", provider.issuer)
            for command in [
                ["brokerctl", "logs"], ["journalctl", "--user-unit", "brokerd"],
                ["journalctl", "--user", "--unit", "brokerd"],
            ] {
                try await eventually("the log is read with \(command[0])") {
                    try await lab.attempt(command).output.contains("app other was registered")
                }
            }
            try await lab.root("usermod", "--append", "--groups", "systemd-journal", SystemdLab.user)
            try await lab.root("journalctl", "--sync")
            let log = try await lab.user("brokerctl", "logs", "--app", "work", "--lines", "50")
            #expect(log.contains("alice signed in at "), "\(log)")
            // Git searches for the helper by this name.
            let helper = try await lab.user(
                "sh", "-c", "printf 'protocol=https\\nhost=h\\n' | git-credential-broker --app work get")
            #expect(helper.contains("password=\(token)\n"), "\(helper)")
        }
    }
}
