import BrokerTestSupport
import Foundation
import Testing

@Suite("Root's actions for logged-in users", .needsLab)
struct RootTests {
    @Test("an uninstallation exposes root's terminal to no user's program, and waits for no user's unit")
    func uninstallation() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.unit(
                "brokerd.service.d/slow.conf", "[Service]\nExecStop=sleep infinity\nTimeoutStopSec=infinity\n")
            try await lab.user("brokerctl", "status")
            // The process that talks to a hung manager can be inspected.
            let manager = try await lab.stopManager()
            let make = (["make"] + SystemdLab.makeInside + ["uninstall", "PREFIX=/usr"]).joined(separator: " ")
            let removal = try lab.startAsRoot("script", "--quiet", "--return", "--command", make, "/dev/null")
            try await lab.expectNoTerminalAtManager()
            try await lab.root("kill", "-CONT", manager)
            #expect(await removal.exitStatus() == .exited(0), "\(removal.outputText)")
        }
    }

    @Test("root does not install into another user's home")
    func home() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            let make = SystemdLab.makeInside
            let place = "/home/\(SystemdLab.user)"
            for target in ["install", "uninstall"] {
                let refused = try await lab.rootAttempt(["make"] + make + [target, "PREFIX=\(place)/.local"])
                #expect(!refused.succeeded && refused.errors.contains("belongs to \(SystemdLab.user)"), "\(refused)")
            }
            #expect(try await !lab.rootAttempt("test", "-e", "\(place)/.local").succeeded)
            // Its own home is root's.
            try await lab.root(["make"] + make + ["install", "PREFIX=/root/.local"])
            let install = (["make"] + make + ["install", "PREFIX=/opt/b"]).joined(separator: " ")
            try await lab.root("sh", "-c", "umask 077; \(install)")
            try await lab.user("/opt/b/bin/brokerctl", "--version")
        }
    }
}
