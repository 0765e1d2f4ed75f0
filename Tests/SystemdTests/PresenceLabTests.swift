import BrokerTestSupport
import Foundation
import Testing

@Suite("Proof of presence with the real polkit", .needsLab)
struct PresenceLabTests {
    @Test("polkit decides, a missing agent is reported, and on a terminal the person types their password")
    func story() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.root("sh", "-c", "echo '\(SystemdLab.user):open sesame' | chpasswd")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("notes")
            try await lab.configure("admin.proof = \"presence\"\n")
            try await lab.user("systemctl", "--user", "reload", "brokerd.service")
            let approve = [
                "brokerctl", "grants", "approve", "--caller", "sandboxed:box:one", "--app", "notes",
            ]
            let nobody = try await lab.attempt(approve)
            #expect(nobody.status == .exited(5) && nobody.errors.contains("nobody can ask you"), "\(nobody)")

            // An administrator's permanent setting.
            func rule(_ result: String) async throws {
                try await lab.root(
                    "sh", "-c", "printf '%s' \"$1\" > /etc/polkit-1/rules.d/10-test.rules", "sh",
                    """
                    polkit.addRule(function(action, subject) {
                        if (action.id == "token-broker.grants.approve" && subject.user == "\(SystemdLab.user)")
                            return polkit.Result.\(result);
                    });
                    """)
                try await lab.root("systemctl", "restart", "polkit")
            }
            try await rule("NO")
            let no = try await lab.attempt(approve)
            #expect(no.status == .exited(1) && no.errors.contains("nothing was changed"), "\(no)")
            try await rule("YES")
            #expect(try await lab.attempt(approve).succeeded)
            try await lab.root("rm", "/etc/polkit-1/rules.d/10-test.rules")
            try await lab.root("systemctl", "restart", "polkit")

            let terminal = try lab.start(
                "script", "--quiet", "--return", "--command",
                approve.joined(separator: " "), "/dev/null", hasInput: true)
            try await terminal.waitForText("Password:")
            try terminal.write("open sesame\n")
            #expect(await terminal.exitStatus() == .exited(0), "\(terminal.outputText)")
        }
    }

    /// polkit expands `$(…)` in its message, and only there.
    @Test("if polkit accepts a text from the broker, it names the caller and the app, whatever their names")
    func named() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.root("sh", "-c", "echo '\(SystemdLab.user):open sesame' | chpasswd")
            try await lab.configureSystem("")
            for step in try Recipe.commands(of: "One broker for each user, or one for all", in: "operations")
            where !step.contains("partitions") {
                try await lab.root("sh", "-c", step.replacing("PREFIX", with: "/usr"))
            }
            let app = "a $(caller) <b>"
            try await lab.addApp(app)
            try await lab.configureSystem("admin.proof = \"presence\"\n")
            try await lab.root("systemctl", "reload", "brokerd-system")
            let terminal = try lab.start(
                "script", "--quiet", "--return", "--command",
                "brokerctl grants approve --caller 'sandboxed:box:$(app)' --app '\(app)'", "/dev/null", hasInput: true)
            try await terminal.waitForText("Password:")
            #expect(
                terminal.outputText.contains("let box:$(app) have tokens of the app \(app)."), "\(terminal.outputText)")
            try terminal.write("open sesame\n")
            #expect(await terminal.exitStatus() == .exited(0), "\(terminal.outputText)")
        }
    }
}
