import BrokerTestSupport
import Foundation
import Testing

/// Every command knows its broker, whether that runs or not.
@Suite("brokerctl with a system broker under systemd", .needsLab)
struct AdministratorLabTests {
    @Test("settings, doctor, log and hints are the machine's broker's, for root and for others")
    func commands() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed)
            let file = "/etc/brokerd/config.toml"
            _ = try await lab.user("brokerctl", "status")

            // The folder that it makes is one that the broker's own account can enter.
            let taken = try await lab.root("sh", "-c", "umask 077; exec brokerctl config set log.level debug")
            #expect(taken.contains(file) && taken.contains("The broker has applied it."), "\(taken)")
            let waits = try await lab.root("brokerctl", "config", "set", "socket.max_connections", "100")
            let restart = "systemctl restart brokerd-system.service"
            #expect(waits.contains("socket.max_connections takes effect after: \(restart)"), "\(waits)")
            let shown = try await lab.user("brokerctl", "config", "show", "log.level")
            #expect(shown.contains("debug") && shown.contains(file), "\(shown)")
            let refused = try await lab.attempt("brokerctl", "config", "set", "log.level", "info")
            #expect(refused.status == .exited(5) && refused.errors.contains("root"), "\(refused)")
            #expect(try await !lab.attempt("test", "-e", "/home/\(SystemdLab.user)/.config/brokerd").succeeded)

            let doctor = try await lab.rootAttempt("brokerctl", "doctor").output
            #expect(doctor.contains("brokerd-system.socket is enabled and listens."), "\(doctor)")
            #expect(doctor.contains("socket.max_connections takes effect after a restart."), "\(doctor)")
            #expect(doctor.contains("-> \(restart)") && doctor.contains("The configuration is valid."))
            let users = try await lab.attempt("brokerctl", "doctor").output
            #expect(users.contains("-> as root: \(restart)"), "\(users)")
            for text in [doctor, users] {
                #expect(!text.contains("--user") && !text.contains("by hand") && !text.contains("BAD"), "\(text)")
            }

            try await eventually("only root reads the log") {
                let log = try await lab.rootAttempt("brokerctl", "logs", "--lines", "20").output
                return log.contains("configuration reloaded")
            }
            let log = try await lab.attempt("brokerctl", "logs")
            #expect(!log.succeeded && log.errors.contains("no entries of brokerd-system.service"), "\(log)")

            try await lab.root("brokerctl", "lock")
            let locked = try await lab.attempt("brokerctl", "apps", "list")
            #expect(locked.errors.contains("only root may unlock it"), "\(locked)")
            try await lab.root("brokerctl", "unlock")
        }
    }

    @Test("while the broker is down, commands name it and the files it reads")
    func down() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed)
            try await lab.root("systemctl", "stop", "brokerd-system.socket", "brokerd-system.service")
            let status = try await lab.attempt("brokerctl", "status")
            #expect(status.status == .exited(3), "\(status)")
            #expect(status.errors.contains("systemctl start brokerd-system.socket"), "\(status)")
            #expect(!status.errors.contains("--user"), "\(status)")
            let doctor = try await lab.attempt("brokerctl", "doctor").output
            #expect(doctor.contains("brokerd-system.socket does not listen."), "\(doctor)")
            #expect(!doctor.contains("--user"), "\(doctor)")
            let set = try await lab.root("brokerctl", "config", "set", "log.level", "debug")
            #expect(set.contains("/etc/brokerd/config.toml") && set.contains("when it starts"), "\(set)")
            #expect(try await lab.user("brokerctl", "config", "get", "log.level") == "debug\n")
            try await lab.root("systemctl", "start", "brokerd-system.socket")
            try await lab.user("brokerctl", "status")
        }
    }
}
