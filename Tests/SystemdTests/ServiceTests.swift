import BrokerTestSupport
import Foundation
import Testing

/// A real systemd runs the broker from its installed units. If none can be booted, these tests are skipped;
/// in continuous integration that is a failure.
@Suite("Under systemd", .needsLab)
struct ServiceTests {
    @Test("the first client starts the daemon, in a sandbox that still lets it identify callers")
    func activation() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            #expect(try await lab.property("ActiveState") == "inactive")
            #expect(try await lab.user("sh", "-c", "stat -c %a $XDG_RUNTIME_DIR/brokerd") == "700\n")
            #expect(try await lab.user("sh", "-c", "stat -c %a $XDG_RUNTIME_DIR/brokerd/broker.sock") == "600\n")

            let status = try await lab.user("brokerctl", "--json", "status")
            #expect(status.contains("\"mode\":\"user\""))
            try await lab.serves()
            #expect(try await lab.property("StatusText") == "Serving")
            #expect(try await lab.property("Result") == "success")

            // The process is protected from its own user.
            let pid = try await lab.property("MainPID")
            let process = try await lab.root("cat", "/proc/\(pid)/status")
            #expect(process.contains("NoNewPrivs:\t1") && process.contains("Seccomp:\t2"))
            #expect(try await !lab.attempt("cat", "/proc/\(pid)/environ").succeeded)
            #expect(
                try await lab.user("sh", "-c", "stat -c %a ~/.local/state/brokerd ~/.local/share/brokerd-key/*.key")
                    == "700\n600\n")

            try await callersAreSeen(in: lab)
        }
    }

    /// An app that names its program accepts that one and no copy of it: /proc/PID/exe is readable from the sandbox.
    private func callersAreSeen(in lab: SystemdLab) async throws {
        try await lab.user(
            "brokerctl", "apps", "add", "mine", "--client-id", "c", "--authority", "https://login.example",
            "--no-check",
            "--executable", "/usr/bin/brokerctl")
        let listed = try await lab.attempt("brokerctl", "--json", "token", "--app", "mine", "--scope", "x")
        #expect(listed.output.contains("interactionRequired"), "\(listed)")
        try await lab.user("cp", "/usr/bin/brokerctl", "/tmp/copy")
        let copy = try await lab.attempt("/tmp/copy", "--json", "token", "--app", "mine", "--scope", "x")
        #expect(copy.status == .exited(5), "\(copy)")
        #expect(copy.output.contains("accessDenied") && copy.output.contains("/tmp/copy"), "\(copy)")
    }

    @Test("a reload applies a new configuration, and a mistake fails it, changes nothing and is in the journal")
    func reload() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user("brokerctl", "status")
            let pid = try await lab.property("MainPID")

            try await lab.configure("[log]\nlevel = \"debug\"\n[socket]\nmax_connections = 3\n")
            try await lab.user("systemctl", "--user", "reload", "brokerd")
            try await eventually("the reload is in the journal") {
                try await lab.journal().contains { $0["BROKER_SETTING"] == "socket.max_connections" }
            }
            let entries = try await lab.journal()
            let reloaded = try #require(entries.first { $0["MESSAGE"] == "configuration reloaded" })
            #expect(reloaded["PRIORITY"] == "5" && reloaded["SYSLOG_IDENTIFIER"] == "brokerd")
            #expect(reloaded["BROKER_LOGGER"] == "brokerd" && reloaded["_TRANSPORT"] == "journal")

            try await lab.configure("[log]\nlevle = \"debug\"\n")
            #expect(try await !lab.attempt("systemctl", "--user", "reload", "brokerd").succeeded)
            try await eventually("the mistake is in the journal") {
                try await lab.journal().contains {
                    $0["PRIORITY"] == "3" && $0["MESSAGE"]?.contains("config.toml:2: there is no setting") == true
                }
            }
            try await eventually("the mistake is in the status") {
                try await lab.property("StatusText").contains("config.toml:2: there is no setting")
            }
            // A package's mistake does not keep a person from changing a setting.
            try await lab.configure("")
            try await lab.root(
                "sh", "-c", "mkdir -p /usr/share/brokerd/apps.d && echo x = 1 > /usr/share/brokerd/apps.d/a.toml")
            #expect(try await !lab.attempt("systemctl", "--user", "reload", "brokerd").succeeded)
            let applied = try await lab.user("brokerctl", "config", "set", "access.unknown", "deny")
            #expect(applied.contains("The broker has applied it."), "\(applied)")
            try await lab.user("brokerctl", "status")
            #expect(try await lab.property("MainPID") == pid)
            #expect(try await lab.property("ActiveState") == "active")
        }
    }

    @Test("a configuration that is wrong from the start is not retried again and again")
    func wrongConfiguration() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.configure("[oauth]\nca_file = 3\n")
            let start = try await lab.attempt("systemctl", "--user", "start", "brokerd.service")
            #expect(!start.succeeded)
            #expect(try await lab.property("ExecMainStatus") == "2")
            #expect(try await lab.property("NRestarts") == "0")
            #expect(try await lab.property("ActiveState") == "failed")
        }
    }

    @Test("each client gets the mistake, systemd shows it, and the first client after its correction is served")
    func mistakeMended() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.configure("[log]\nlevle = \"debug\"\n")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            let mistake = "config.toml:2: there is no setting log.levle; did you mean log.level?"
            for _ in 1...2 {
                for _ in 1...12 {
                    let status = try await lab.attempt("brokerctl", "status")
                    #expect(status.status == .exited(3) && status.errors.contains(mistake), "\(status)")
                }
                try await eventually("the daemon ends without clients") {
                    try await lab.property("ActiveState") == "failed"
                }
                #expect(try await lab.property("ExecMainStatus") == "2")
            }
            #expect(try await lab.property("ActiveState", of: "brokerd.socket") == "active")
            #expect(try await lab.attempt("systemctl", "--user", "status", "brokerd").output.contains(mistake))
            #expect(
                try await lab.journal().contains { $0["PRIORITY"] == "3" && $0["MESSAGE"]?.contains(mistake) == true })

            try await lab.configure("")
            try await lab.user("brokerctl", "status")
            try await lab.serves()
        }
    }

    @Test("a program that a person runs by hand writes nothing about its threads to the journal")
    func threads() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("brokerd", "--check-config")
            // It waits for a person, and so has threads.
            let login = try await lab.attempt("brokerctl", "login", "--app", "none")
            #expect(!login.succeeded)
            try await lab.root("journalctl", "--sync")
            let journal = try await lab.root("journalctl", "--quiet", "--output=cat")
            #expect(!journal.contains("thread priority"), "\(journal)")
        }
    }

    @Test("a stop is clean, and the next client starts the daemon again")
    func stopping() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user("brokerctl", "status")
            try await lab.user("systemctl", "--user", "stop", "brokerd.service")
            #expect(try await lab.property("Result") == "success")
            #expect(try await lab.property("ExecMainStatus") == "0")
            try await lab.user("brokerctl", "status")
            try await lab.serves()
        }
    }
}
