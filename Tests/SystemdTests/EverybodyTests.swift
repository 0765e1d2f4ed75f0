import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// One broker for all users, from its installed units and with its own account.
@Suite("One broker for all users under systemd", .needsLab)
struct EverybodyTests {
    @Test(
        "users sign in, refresh and are separated, with an encrypted credential and services known by unit")
    func signedIn() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.forEverybody(in: bed, "vault.key_source = [\"credential\"]\n")
            // It is found by its name, without a line in the unit.
            try await lab.makeCredential()
            try await lab.add("bob")
            for name in [SystemdLab.user, "bob"] {
                try await lab.addApp("work", at: provider, as: name)
            }
            #expect(try await lab.root("brokerctl", "status").contains("credential"))

            try await lab.signIn("work", at: provider)
            let token = try await lab.user("brokerctl", "token", "--app", "work")
            #expect(try await lab.user("brokerctl", "token", "--app", "work") == token)
            #expect(try await lab.user("brokerctl", "token", "--app", "work", "--force-refresh") != token)
            let other = try await lab.attempt("brokerctl", "token", "--app", "work", as: "bob")
            #expect(other.status == .exited(4), "\(other)")
            #expect(try await lab.user("brokerctl", "accounts", "list", as: "bob").contains("alice") == false)
            try await lab.signIn("work", at: provider, as: "bob")
            try await lab.user("brokerctl", "token", "--app", "work", as: "bob")

            // A caller is identified by its unit if its program is not listed.
            try await lab.user("brokerctl", "apps", "edit", "work", "--unit", "sync.service")
            let plain = try await lab.attempt("brokerctl", "token", "--app", "work")
            #expect(plain.status == .exited(5), "\(plain)")
            let unit = [
                "systemd-run", "--wait", "--pipe", "--quiet", "--uid=\(SystemdLab.user)", "--unit=sync.service",
            ]
            let served = try await lab.root(unit + ["/usr/bin/brokerctl", "token", "--app", "work"])
            #expect(!served.isEmpty)
            // The user's own manager does not count here.
            let mine = ["systemd-run", "--user", "--wait", "--pipe", "--quiet", "--unit=sync.service", "brokerctl"]
            let disguised = try await lab.attempt(mine + ["token", "--app", "work"], as: SystemdLab.user)
            #expect(disguised.status == .exited(5), "\(disguised)")

            // A sandbox that the user launches has a socket in the broker's own folder, which the client trusts.
            try await lab.user("brokerctl", "apps", "edit", "work", "--unit", "")
            let runIn = ["brokerctl", "run-in", "--engine", "test", "--id", "box", "--app", "work", "--"]
            let inside = try await lab.attempt(runIn + ["brokerctl", "token", "--app", "work"], as: SystemdLab.user)
            #expect(inside.output == served, "\(inside)")
            // If it is mounted into a user namespace, its owner is unknown there.
            let mounted = [
                "bwrap", "--dev-bind", "/", "/", "--tmpfs", "/run", "--ro-bind", "{folder}", "/run/broker", "brokerctl",
                "--socket", "/run/broker/broker.sock", "token", "--app", "work",
            ]
            let namespaced = try await lab.attempt(runIn + mounted, as: SystemdLab.user)
            #expect(namespaced.output == served, "\(namespaced)")
            #expect(try await !lab.attempt(runIn + ["brokerctl", "apps", "add"], as: SystemdLab.user).succeeded)
            // oidc-agent's programs have a door only if it is enabled; a sandbox has one of its own.
            let agent = try await lab.attempt(runIn + ["oidc-token", "work"], as: SystemdLab.user)
            #expect(agent.output == served, "\(agent)")
            try await lab.user("brokerctl", "apps", "edit", "work", "--unit", "sync.service")

            // The machine's owner is accepted, but gets no token of others.
            let partitions = try await lab.root("brokerctl", "partitions", "list")
            for name in [SystemdLab.user, "bob"] {
                let uid = try await lab.root("id", "-u", name).trimmingCharacters(in: .newlines)
                #expect(partitions.contains("\n\(uid) "), "\(partitions)")
                // Each sentence about a request names its user.
                #expect(try await lab.said().contains("\n\(name) (uid \(uid)), "))
            }
            #expect(try await !lab.rootAttempt("brokerctl", "token", "--app", "work").succeeded)
            #expect(try await !lab.attempt("brokerctl", "partitions", "list").succeeded)
            let bob = try await lab.root("id", "-u", "bob").trimmingCharacters(in: .newlines)
            let erased = try await lab.root("brokerctl", "partitions", "remove", "--yes", bob)
            #expect(erased.contains("of uid \(bob)"), "\(erased)")
            #expect(try await !lab.root("brokerctl", "partitions", "list").contains("\n\(bob) "))
            #expect(try await lab.user("brokerctl", "apps", "list", as: "bob").contains("work") == false)

            // The next broker opens the vault with the same credential.
            try await lab.user("brokerctl", "apps", "edit", "work", "--unit", "")
            let last = try await lab.user("brokerctl", "token", "--app", "work")
            try await lab.root("systemctl", "stop", "brokerd-system.service")
            #expect(try await lab.user("brokerctl", "token", "--app", "work") == last)
        }
    }

    @Test("each user's watch gets that user's tokens only, and ends with that user's vault")
    func watches() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.forEverybody(in: bed)
            try await lab.add("bob")
            let request = #"""
                {"jsonrpc":"2.0","id":1,"method":"token.watch","params":{"app":"work","scopes":["notes.read"]}}
                """#
            var watches: [ManagedProcess] = []
            for name in [SystemdLab.user, "bob"] {
                try await lab.addApp("work", at: provider, as: name)
                try await lab.signIn("work", at: provider, as: name)
                let watch = try lab.start(
                    "socat", "-", "UNIX-CONNECT:/run/brokerd/broker.sock", as: name, hasInput: true)
                try watch.write(request + "\n")
                try await watch.waitForText(#""accessToken""#)
                watches.append(watch)
            }
            let (alice, bob) = (watches[0], watches[1])

            let token = try await lab.user("brokerctl", "token", "--app", "work", "--force-refresh")
                .trimmingCharacters(in: .newlines)
            try await alice.waitForText(token)
            #expect(alice.outputText.contains("event.tokenChanged"))

            let uid = try await lab.uid(of: "bob")
            try await lab.root("brokerctl", "partitions", "remove", "--yes", uid)
            try await bob.waitForText("event.tokenEnded")
            #expect(!bob.outputText.contains(token) && !bob.outputText.contains("event.tokenChanged"))

            let next = try await lab.user("brokerctl", "token", "--app", "work", "--force-refresh")
                .trimmingCharacters(in: .newlines)
            try await alice.waitForText(next)
            #expect(!alice.outputText.contains("event.tokenEnded") && !bob.outputText.contains(next))
        }
    }

    @Test("the broker has no capability, no other files, no swap, and its data is readable by itself only")
    func closed() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed)
            try await lab.user("brokerctl", "status")
            let pid = try await lab.service("MainPID")
            let process = try await lab.root("cat", "/proc/\(pid)/status")
            for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapBnd:\t0000000000000000", "CapEff:\t0000000000000000"] {
                #expect(process.contains(line), "\(process)")
            }
            #expect(try await lab.root("ps", "-o", "user=", "-p", pid) == "brokerd\n")
            #expect(try await lab.service("MemorySwapMax") == "0")
            #expect(try await lab.root("stat", "--format=%U %a", "/run/brokerd/broker.sock") == "root 666\n")
            let folders = try await lab.root("stat", "--format=%n %U %a", "/var/lib/brokerd", "/var/lib/brokerd-key")
            #expect(folders == "/var/lib/brokerd brokerd 700\n/var/lib/brokerd-key brokerd 700\n")
            #expect(try await !lab.attempt("cat", "/proc/\(pid)/environ").succeeded)
            let mounts = try await lab.root("cat", "/proc/\(pid)/mounts")
            #expect(mounts.contains(#/ / overlay ro,/#), "\(mounts)")
        }
    }

    @Test("a reload applies a new configuration and fails with a mistake, and a hung broker is restarted")
    func reload() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed)
            try await lab.root(
                "sh", "-c",
                """
                mkdir -p /etc/systemd/system/brokerd-system.service.d
                printf '[Service]\\nWatchdogSec=1s\\n' > /etc/systemd/system/brokerd-system.service.d/test.conf
                systemctl daemon-reload
                """)
            try await lab.user("brokerctl", "status")
            let pid = try await lab.service("MainPID")
            try await lab.configureSystem("log.level = \"debug\"\n")
            try await lab.root("systemctl", "reload", "brokerd-system")
            try await lab.configureSystem("log.levle = \"debug\"\n")
            #expect(try await !lab.rootAttempt("systemctl", "reload", "brokerd-system").succeeded)
            // The journal reads a process's last output with a delay.
            try await eventually("both are in the journal") {
                let log = try await lab.root("journalctl", "--quiet", "--output=cat", "--unit=brokerd-system")
                return log.contains("configuration reloaded") && log.contains("there is no setting log.levle")
            }
            #expect(try await lab.service("MainPID") == pid)

            try await lab.configureSystem("")
            try await lab.root("kill", "-STOP", pid)
            try await eventually("the watchdog ends it and systemd starts it again") {
                let (state, now) = try await (lab.service("ActiveState"), lab.service("MainPID"))
                return state == "active" && now != pid && now != "0"
            }
            #expect(try await lab.service("NRestarts") == "1")
            try await lab.user("brokerctl", "status")
        }
    }

    @Test(
        "users administer their own apps with the proof that admin.proof requires",
        arguments: ["outside", "setgid", "presence"])
    func proofs(proof: String) async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed, "admin.proof = \"\(proof)\"\n")
            if proof == "setgid" {
                for step in try Recipe.commands(of: "Let only brokerctl administer", in: "operations") {
                    try await lab.follow(step)
                }
                try await lab.root("systemctl", "restart", "brokerd-system.service")
            }
            try await lab.user("cp", "/usr/bin/brokerctl", "/tmp/copy")
            func add(_ app: String, with program: String) async throws -> CommandResult {
                try await lab.attempt(
                    program, "apps", "add", app, "--client-id", "c", "--authority", "https://login.example.org",
                    "--no-check")
            }
            let (own, copy) = try await (add("one", with: "brokerctl"), add("two", with: "/tmp/copy"))
            // No person is present to answer.
            #expect(own.succeeded == (proof != "presence"), "\(own)")
            #expect(copy.succeeded == (proof == "outside"), "\(copy)")
        }
    }

    @Test("restarts pass the socket on, and no request is lost", arguments: [true, false])
    func handOver(isForAll: Bool) async throws {
        try await withTestBed { bed in
            let lab = isForAll ? try await SystemdLab.forEverybody(in: bed) : try await SystemdLab.boot(in: bed)
            if !isForAll { try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket") }
            try await lab.user("brokerctl", "status")
            // Endless clients, each a process; any output of them is a failure.
            let clients = try lab.start(
                "bash", "-c",
                """
                ask() {
                    while [ ! -e ~/enough ]; do
                        brokerctl apps list > ~/said.$1 2>&1 || cat ~/said.$1
                        echo >> ~/count
                    done
                }
                for number in 1 2 3; do ask $number & done; wait
                """)
            let count = { () async throws -> Int in
                let lines = try await lab.user("sh", "-c", "cat ~/count 2> /dev/null | wc -l")
                return Int(lines.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
            }
            for restart in 1...3 {
                let before = try await count()
                if isForAll {
                    try await lab.root("systemctl", "restart", "brokerd-system.service")
                } else {
                    try await lab.user("systemctl", "--user", "restart", "brokerd.service")
                }
                try await eventually("clients go on after restart \(restart)") {
                    try await count() > before + 5
                }
            }
            try await lab.user("sh", "-c", "touch ~/enough")
            #expect(await clients.exitStatus() == .exited(0))
            #expect(clients.outputText.isEmpty, "\(clients.outputText)")
        }
    }
}

extension SystemdLab {
    /// Runs the commands of a page, as root.
    func follow(_ step: String) async throws {
        try await root("sh", "-c", step.replacing("sudo ", with: "").replacing("PREFIX", with: "/usr"))
    }

    /// Follows docs/operations.md.
    ///
    /// - Parameter withCredential: whether the key's credential exists before the first start.
    static func forEverybody(
        in bed: TestBed, _ settings: String = "", withCredential: Bool = false
    ) async throws -> SystemdLab {
        let lab = try await SystemdLab.boot(in: bed)
        if withCredential { try await lab.makeCredential() }
        try await lab.configureSystem("oauth.allow_http_loopback = true\n" + settings)
        for step in try Recipe.commands(of: "One broker for each user, or one for all", in: "operations")
        where !step.contains("partitions") {
            try await lab.follow(step)
        }
        return lab
    }

    /// A key for the vault of the machine's broker.
    fileprivate func makeCredential() async throws {
        try await root(
            "sh", "-c",
            """
            mkdir -p /etc/credstore.encrypted && head -c 32 /dev/urandom | systemd-creds encrypt --with-key=host \
                --name=vault-key - /etc/credstore.encrypted/brokerd.vault-key
            """)
    }

    /// One property of the machine's broker.
    func service(_ name: String) async throws -> String {
        try await root("systemctl", "show", "--value", "--property", name, "brokerd-system.service")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func configureSystem(_ text: String) async throws {
        try await root("sh", "-c", "mkdir -p /etc/brokerd && printf '%s' \"$1\" > /etc/brokerd/config.toml", "sh", text)
    }
}
