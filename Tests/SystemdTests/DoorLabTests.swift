import BrokerTestSupport
import Foundation
import Testing

@Suite("The sockets of doors under a real systemd", .needsLab)
struct DoorLabTests {
    @Test("the socket for oidc-agent's programs comes and goes with the broker's, and starts the broker")
    func activation() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            let unit = "brokerd-oidc-agent.socket"
            #expect(try await lab.user("systemctl", "--user", "is-active", unit) == "active\n")
            #expect(try await lab.property("MainPID") == "0")
            // No other request comes before: the door alone starts the broker, which has both sockets.
            let asked = try await lab.attempt("sh", "-c", "eval \"$(brokerctl env)\"; oidc-token notes")
            #expect(asked.status == .exited(1), "\(asked)")
            #expect(asked.errors.hasPrefix("Error: No account configured with that short name\n"), "\(asked)")
            #expect(try await lab.property("MainPID") != "0")
            let doors = try await lab.user("brokerctl", "doors")
            #expect(doors.contains("/brokerd/oidc-agent.sock"), "\(doors)")

            // An unwanted client is refused, and does not wait for an answer that never comes.
            try await lab.configure("doors.oidc_agent_socket = \"off\"\n")
            try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            let shut = try await lab.attempt(
                "sh", "-c", "OIDC_SOCK=$XDG_RUNTIME_DIR/brokerd/oidc-agent.sock oidc-token notes")
            #expect(shut.errors.contains("does not listen for programs that ask oidc-agent"), "\(shut)")
            // systemd still holds the socket.
            let variables = try await lab.user("brokerctl", "env")
            #expect(!variables.contains("OIDC_SOCK"), "\(variables)")

            try await lab.user("systemctl", "--user", "stop", "brokerd.socket", "brokerd.service")
            #expect(try await lab.attempt("systemctl", "--user", "is-active", unit).output == "inactive\n")
            #expect(try await lab.attempt("sh", "-c", "ls $XDG_RUNTIME_DIR/brokerd/*.sock").output.isEmpty)
        }
    }

    @Test("every session has the variable for oidc-agent's programs, unless it is already set")
    func environment() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            let variables = try await lab.user("systemctl", "--user", "show-environment")
            let runtime = try await lab.user("sh", "-c", "printf %s $XDG_RUNTIME_DIR")
            #expect(variables.contains("\nOIDC_SOCK=\(runtime)/brokerd/oidc-agent.sock\n"), "\(variables)")
        }
    }
}
