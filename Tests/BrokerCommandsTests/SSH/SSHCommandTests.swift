import BrokerTestSupport
import Testing

@Suite("brokerctl ssh")
struct SSHCommandTests {
    /// The request to the broker, and the behavior without ssh.
    private func run(_ words: String...) async throws -> (result: CommandResult, asked: [String]) {
        let broker = try ScriptedBroker.answering { _ in
            #"{"handle":"h2","path":"/run/user/7/brokerd/sandboxes/h2/broker.sock"}"#
        }
        let result = try await brokerctl(["ssh"] + words, at: broker.path, environment: ["PATH": "/nonexistent"])
        return (result, broker.requests.map(\.description))
    }

    @Test("the socket is for that host, has the given rights and ends with the connection")
    func request() async throws {
        let (_, asked) = try await run(
            "--app", "notes", "--right", "token", "--right", "interactive", "--for", "1h", "ada@devbox", "ls", "-l")
        #expect(
            asked.first == """
                sandboxes.open {"apps":["notes"],"engine":"ssh","id":"ada@devbox","lifetime":3600,\
                "rights":["token","interactive"],"whileConnected":true}
                """)
        let plain = try await run("devbox").asked
        #expect(plain.first == #"sandboxes.open {"engine":"ssh","id":"devbox","whileConnected":true}"#)
    }

    @Test("without an ssh, an error says what to do")
    func noProgram() async throws {
        let result = try await run("devbox").result
        #expect(result.status == .exited(1) && result.errors.contains("ssh cannot be started"), "\(result)")
        #expect(result.errors.contains("Install it"), "\(result)")
    }
}
