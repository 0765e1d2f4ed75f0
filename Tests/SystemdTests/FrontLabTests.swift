import BrokerTestSupport
import Foundation
import Testing

@Suite("Names and rights under a real systemd", .needsLab)
struct FrontLabTests {
    /// No account is signed in: a starter with the right learns that a sign-in is required (4), one without it is refused (5).
    @Test("brokerctl gains no rights that its starter lacks: a shell, a unit, an ended process, git")
    func starters() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            let add = "brokerctl apps add notes --client-id c --authority https://login.example.org --no-check"
            try await lab.user("sh", "-c", add)
            let ask = "brokerctl token --app notes --scope s"
            let units = ["systemd-run", "--user", "--wait", "--pipe", "--quiet", "--collect"]
            let git = """
                printf 'protocol=https\\nhost=h.example\\n\\n' \
                    | git -c credential.helper='broker --app notes' credential fill
                """
            let left = """
                (sh -c '\(ask); echo $? > ~/status.new; mv ~/status.new ~/status' &)
                while [ ! -e ~/status ]; do :; done
                exit $(cat ~/status; rm ~/status)
                """
            let words = ask.split(separator: " ").map(String.init)
            func statuses() async throws -> [Int32?] {
                let shell = try await lab.attempt("sh", "-c", ask + "; exit $?")
                let unit = try await lab.attempt(units + words, as: SystemdLab.user)
                let orphan = try await lab.attempt("sh", "-c", left)
                return [shell, unit, orphan].map { if case .exited(let status) = $0.status { status } else { nil } }
            }
            #expect(try await statuses() == [4, 4, 4])
            try await lab.configure("access.unknown = \"deny\"\n")
            try await lab.user("systemctl", "--user", "reload", "brokerd.service")
            #expect(try await statuses() == [5, 5, 5])
            let helped = try await lab.attempt("sh", "-c", git)
            #expect(helped.errors.contains("is not among the programs"), "\(helped)")

            // The user chooses the unit's name; a listed brokerctl is available to all users.
            try await lab.user("brokerctl", "apps", "edit", "notes", "--unit", "user:sync.service")
            let named = units + ["--unit=sync.service"] + words
            #expect(try await lab.attempt(named, as: SystemdLab.user).status == .exited(4))
            #expect(try await statuses() == [5, 5, 5])
            try await lab.user("brokerctl", "apps", "edit", "notes", "--unit", "", "--executable", "/usr/bin/brokerctl")
            #expect(try await statuses() == [4, 4, 4])
        }
    }

    @Test(
        "a unit of a user's own manager does not count as a unit of the system, whatever its name",
        arguments: ["backup.service", "system:backup.service"])
    func disguisedUnit(name: String) async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user(
                "brokerctl", "apps", "add", "notes", "--client-id", "c", "--authority", "https://login.example.org",
                "--no-check",
                "--unit", "system:backup.service")
            let ask = ["brokerctl", "token", "--app", "notes", "--scope", "s"]
            let mine = ["systemd-run", "--user", "--wait", "--pipe", "--quiet", "--collect", "--unit=\(name)"] + ask
            #expect(try await lab.attempt(mine, as: SystemdLab.user).status == .exited(5))
        }
    }
}
