import BrokerTestSupport
import Foundation
import Testing

@Suite("Recovery under systemd", .needsLab)
struct RecoveryTests {
    @Test("after kill -9 the daemon restarts by itself, and accounts stay signed in")
    func killed() async throws {
        try await withTestBed { bed in
            let redirectURI = "http://127.0.0.1:\(try FreePort.next())/callback"
            let provider = try await GlewlwydProvider.start(in: bed, redirectURIs: [redirectURI])
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.configure("[oauth]\nallow_http_loopback = true\n")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await signIn(in: lab, at: provider, redirectURI)
            let before = try await lab.user("brokerctl", "token", "--app", "mail", "--scope", "api")

            let pid = try await lab.property("MainPID")
            try await lab.root("kill", "-KILL", pid)
            try await eventually("systemd starts it again") {
                let (state, now) = try await (lab.property("ActiveState"), lab.property("MainPID"))
                return state == "active" && now != pid
            }
            let (restarts, journal) = try await (lab.property("NRestarts"), lab.journal())
            #expect(restarts == "1", "\(journal)")
            let accounts = try await lab.user("brokerctl", "--json", "accounts", "list")
            #expect(accounts.contains("\"\(Person.alice.name)\""), "\(accounts)")
            #expect(try await lab.user("brokerctl", "token", "--app", "mail", "--scope", "api") == before)
        }
    }

    @Test("a vault that was replaced while the daemon was stopped is noticed by the session's next one")
    func vaultPutBack() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("notes")
            let status = try await lab.user("brokerctl", "status")
            let file = String(try #require(status.firstMatch(of: /\/\S+vault\.db/)).output)
            try await lab.user("systemctl", "--user", "stop", "brokerd.service")
            try await lab.user("cp", file, "\(file).kept")
            try await lab.addApp("mail")
            try await lab.user("systemctl", "--user", "stop", "brokerd.service")
            try await lab.user("mv", "\(file).kept", file)

            #expect(try await lab.user("brokerctl", "status").contains("An earlier vault was put in place"))
            try await lab.user("brokerctl", "cache", "accept-restore")
            #expect(try await !lab.user("brokerctl", "status").contains("An earlier vault"))
        }
    }

    @Test(
        "a damaged vault is reported to every client, and a restored one is served without a reset"
    )
    func damaged() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            let status = try await lab.user("brokerctl", "status")
            let file = String(try #require(status.firstMatch(of: /\/\S+vault\.db/)).output)
            try await lab.user("systemctl", "--user", "stop", "brokerd.service")
            try await lab.user("cp", file, "\(file).kept")
            try await lab.user(
                "dd", "if=/dev/urandom", "of=\(file)", "bs=4096", "count=4", "conv=notrunc", "status=none")
            // More than the starts after which systemd gives up by default (five in ten seconds).
            for _ in 0..<8 {
                let asked = try await lab.attempt("brokerctl", "apps", "list")
                #expect(asked.status == .exited(3) && asked.errors.contains("is damaged"), "\(asked)")
                try await lab.user("systemctl", "--user", "stop", "brokerd.service")
            }
            #expect(try await lab.attempt("brokerctl", "apps", "list").status == .exited(3))
            try await lab.user("mv", "\(file).kept", file)
            #expect(try await lab.attempt("brokerctl", "apps", "list").succeeded)
            #expect(try await lab.property("ActiveState", of: "brokerd.socket") == "active")
        }
    }

    @Test("a daemon with a hung event loop is caught by the watchdog and restarted")
    func stopped() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            // A short interval, so that the test does not take the twenty seconds of the unit.
            try await lab.user(
                "sh", "-c",
                """
                mkdir -p ~/.config/systemd/user/brokerd.service.d
                printf '[Service]\\nWatchdogSec=1s\\n' > ~/.config/systemd/user/brokerd.service.d/test.conf
                systemctl --user daemon-reload
                """)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user("brokerctl", "status")
            let pid = try await lab.property("MainPID")
            // With a working event loop it keeps running: several of its watchdog's intervals pass (microseconds).
            func lastFed() async throws -> Int { Int(try await lab.property("WatchdogTimestampMonotonic")) ?? 0 }
            let first = try await lastFed()
            try await eventually("it is fed for three intervals") { try await lastFed() > first + 3_000_000 }
            #expect(try await lab.property("MainPID") == pid)

            try await lab.root("kill", "-STOP", pid)
            try await eventually("the watchdog ends it and systemd starts it again") {
                let (state, now) = try await (lab.property("ActiveState"), lab.property("MainPID"))
                return state == "active" && now != pid && now != "0"
            }
            #expect(Int(try await lab.property("NRestarts")) ?? 0 >= 1)
            try await eventually("the journal says why") {
                try await lab.journal().contains { $0["MESSAGE"]?.contains("Watchdog timeout") == true }
            }
            try await lab.user("brokerctl", "status")
        }
    }

    /// With `brokerctl login`; the test acts as the browser.
    private func signIn(in lab: SystemdLab, at provider: GlewlwydProvider, _ redirectURI: String) async throws {
        try await lab.user(
            "brokerctl", "apps", "add", "mail", "--client-id", provider.clientID, "--authority", provider.authority,
            "--scope", "api", "--redirect-uri", redirectURI)
        let login = try lab.start("brokerctl", "login", "--app", "mail", "--scope", "api", "--manual", hasInput: true)
        try await login.waitForText(provider.base)
        let text = login.outputText + login.errorText
        let url = try #require(text.firstMatch(of: /https?:\/\/\S+/)).output
        let redirect = try await provider.signIn(.alice, at: String(url))
        try login.write(redirect.url + "\n")
        #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
    }
}
