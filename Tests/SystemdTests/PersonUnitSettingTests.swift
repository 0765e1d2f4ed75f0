import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// Settings that reach outside of the broker, in a person's units.
@Suite("The configuration in a person's units", .needsLab)
struct PersonUnitSettingTests {
    /// As in docs/configuration.md: `pass` starts `gpg`.
    private func configure(_ lab: SystemdLab, _ authorities: String) async throws {
        let home = "/home/\(SystemdLab.user)"
        try await lab.makeBrowser()
        try await lab.user(
            "sh", "-c",
            """
            printf '%s' "$1" > ~/authorities.pem
            gpg --batch --quiet --passphrase '' --quick-generate-key ada default default never
            echo correct horse battery | gpg --batch --quiet --encrypt --recipient ada --output ~/word.gpg
            gpgconf --kill gpg-agent
            """, "sh", authorities)
        try await lab.configure(
            """
            browser.command = ["\(home)/browser"]
            [oauth]
            ca_file = "~/authorities.pem"
            [socket]
            path = "\(home)/other.sock"
            max_connections = 5000
            [doors]
            oidc_agent_socket = "\(home)/agent.sock"
            [lock]
            on_suspend = true
            on_screen_lock = true
            [vault]
            state_dir = "~/vault"
            key_dir = "~/key"
            key_source = ["passphrase", "secret-service"]
            passphrase_command = ["gpg", "--batch", "--quiet", "--decrypt", "\(home)/word.gpg"]

            """)
    }

    @Test("files, programs, sockets, the keyring and the login manager are reachable from the broker's unit")
    func broker() async throws {
        try await withTestBed { bed in
            let (issuer, authorities) = try await PrivateIssuer.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed)
            try await configure(lab, authorities)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            let status = try await lab.user("brokerctl", "status")
            #expect(status.contains("passphrase") && status.contains("vault/vault.db"), "\(status)")
            #expect(!status.contains("locked"), "\(status)")
            try await lab.user("brokerctl", "apps", "add", "own", "--client-id", "c", "--authority", issuer)
            try await lab.reaches("own")
            let log = try await lab.said()
            #expect(!log.contains("there are fewer connections"), "\(log)")
            try await eventually("logind waits for it before the machine sleeps") {
                try await lab.root("systemd-inhibit", "--list", "--no-pager").contains("Token broker")
            }
            // systemd's sockets come first.
            #expect(try await lab.user("sh", "-c", "ls ~/*.sock || true").isEmpty)
            try await asksInBrowser(lab)
            try await locks(lab)
        }
    }

    /// The user's manager starts it.
    private func asksInBrowser(_ lab: SystemdLab) async throws {
        try await lab.user("brokerctl", "config", "set", "access.unknown", "ask")
        let line =
            #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"own","scopes":["x"],"waitForGrant":120}}"#
        let program = try lab.start(
            "sh", "-c", "(echo \"$1\"; cat) | socat - UNIX-CONNECT:$XDG_RUNTIME_DIR/brokerd/broker.sock", "sh", line,
            hasInput: true)
        try await lab.browserGetsPage()
        await program.stop()
    }

    private func locks(_ lab: SystemdLab) async throws {
        try await lab.user(
            "systemd-run", "--user", "--quiet", "--unit=keyring", "sh", "-c",
            "printf word | exec gnome-keyring-daemon --unlock --components=secrets --foreground")
        try await eventually("the keyring takes the key") {
            try await lab.attempt("brokerctl", "key", "set-source", "secret-service").succeeded
        }
        try await lab.user("systemctl", "--user", "restart", "brokerd.service")
        #expect(try await lab.user("brokerctl", "apps", "list").contains("own"))

        try await lab.root(
            "systemd-run", "--quiet", "--property=User=\(SystemdLab.user)", "--property=PAMName=su",
            "--setenv=XDG_SESSION_CLASS=user", "sleep", "infinity")
        try await eventually("its session is locked, and the broker with it") {
            // The broker may not listen yet. The manager's own session has no lock.
            try await lab.root(
                "sh", "-c",
                "loginctl list-sessions --no-legend | while read -r id rest; do loginctl lock-session $id || true; done"
            )
            return try await lab.user("brokerctl", "status").contains("locked")
        }
        try await lab.user("brokerctl", "unlock")
    }

    @Test("a sign-in that the session's unit begins opens the browser that is set")
    func session() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.makeBrowser()
            // It presses the button.
            try await lab.root(
                "sh", "-c",
                #"""
                cat > /usr/local/bin/notify-send <<'END'
                #!/bin/sh
                for word; do case "$word" in --action=*"=Sign in"*) word=${word#--action=}; echo "${word%%=*}" ;; esac; done
                END
                chmod +x /usr/local/bin/notify-send
                """#)
            try await lab.configure(
                """
                oauth.allow_http_loopback = true
                browser.command = ["/home/\(SystemdLab.user)/browser"]

                """)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("work", at: provider)
            try await lab.signIn("work", at: provider)
            try await lab.user("systemctl", "--user", "enable", "brokerd-session.service")
            try await lab.startDesktop()
            try await eventually("it runs") {
                try await lab.property("ActiveState", of: "brokerd-session.service") == "active"
            }
            // The provider ends the sign-in: with the first answer nobody knows yet.
            provider.add(Fault(.token, .empty400, times: 2))
            for _ in 1...2 { _ = try await lab.attempt("brokerctl", "token", "--app", "work", "--force-refresh") }
            try await lab.browserGetsPage()
        }
    }
}
