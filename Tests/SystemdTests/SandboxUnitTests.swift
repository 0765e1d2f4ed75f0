import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("A unit with the socket of a configured sandbox", .needsLab)
struct SandboxUnitTests {
    @Test(
        "it sees only that folder of the runtime directory, and gets its app's token, also after a restart"
    )
    func unit() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.configure(
                "oauth.allow_http_loopback = true\n[sandbox.sync]\nengine = \"systemd\"\nid = \"sync.service\"\napps = [\"work\"]\n"
            )
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("work", at: provider)
            try await lab.signIn("work", at: provider)
            let token = try await lab.user("brokerctl", "token", "--app", "work")
            // As in docs/configuration.md; it reports each line that it writes.
            let unit = """
                [Service]
                PrivateUsers=yes
                TemporaryFileSystem=%t
                BindReadOnlyPaths=%t/brokerd/sandboxes/sync
                Environment=BROKER_SOCKET=%t/brokerd/sandboxes/sync/broker.sock
                ExecStart=/bin/sh -c 'ls -A %t %t/brokerd; brokerctl token --app work; brokerctl --json status; \
                brokerctl lock; while [ ! -e %h/enough ]; do sleep 0.1; done; brokerctl token --app work'
                StandardOutput=file:%h/said
                StandardError=file:%h/said
                """
            try await lab.user(
                "sh", "-c",
                "mkdir -p ~/.config/systemd/user && printf '%s\\n' \"$1\" > ~/.config/systemd/user/sync.service", "sh",
                unit)
            try await lab.user("systemctl", "--user", "daemon-reload")
            try await lab.user("systemctl", "--user", "start", "--no-block", "sync.service")
            let said = { () async throws -> String in try await lab.user("sh", "-c", "cat ~/said || true") }
            do {
                try await eventually("it was refused the lock") { try await said().contains("may not do this") }
            } catch {
                let state = try await lab.attempt("systemctl", "--user", "status", "--no-pager", "sync.service")
                Issue.record("\(state) \(try await said())")
                throw error
            }
            #expect(try await said().contains("systemd:sync.service"))
            let heard = try await said()
            #expect(heard.contains(token) && !heard.contains("broker.sock\n"), "\(heard)")
            #expect(try await !lab.user("brokerctl", "status").contains("locked"))
            try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            try await lab.serves()
            try await lab.user("touch", "/home/\(SystemdLab.user)/enough")
            try await eventually("it has the token again") {
                try await said().components(separatedBy: token).count == 3
            }
        }
    }
}
