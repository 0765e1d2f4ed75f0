import BrokerCommands
import BrokerLink
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl env")
struct EnvCommandTests {
    @Test("a broker that does not run is expected at the configured socket, or at the usual one")
    func agentSocket() {
        func path(_ socket: String, _ configured: String?) -> String? {
            OIDCAgentSocket.expected(beside: SocketLocation(path: socket), configured: configured)
        }
        let own = "/run/user/7/brokerd/broker.sock"
        #expect(path(own, nil) == "/run/user/7/brokerd/oidc-agent.sock")
        #expect(path(own, "off") == nil)
        #expect(path(own, "/run/agent.sock") == "/run/agent.sock")
        #expect(path("/run/brokerd/broker.sock", nil) == nil)
        #expect(OIDCAgentSocket.usual(beside: SocketLocation(path: "broker.sock")) == "oidc-agent.sock")
    }

    @Test("a running broker says where it listens", arguments: ["/elsewhere/agent.sock", nil])
    func running(door: String?) async throws {
        let doors = door.map { #","doors":[{"name":"oidc-agent","path":"\#($0)"}]}"# } ?? #","doors":[]}"#
        let broker = try broker(["broker.status": ScriptedAnswers.status.dropLast() + doors])
        let text = try await brokerctl(["env"], at: broker.path)
        #expect(text.succeeded && text.lines.count == (door == nil ? 1 : 2), "\(text)")
        if let door {
            #expect(text.lines.last?.hasPrefix("export OIDC_SOCK=") == true && text.output.contains(door), "\(text)")
        }
    }

    @Test("a socket beside the broker's counts only if the broker names none", arguments: [true, false])
    func beside(names: Bool) async throws {
        try await withTestBed { bed in
            let status: String = names ? ScriptedAnswers.status.dropLast() + #","doors":[]}"# : ScriptedAnswers.status
            let broker = try ScriptedBroker(path: bed.path("broker.sock")) { peer in
                while let request = peer.request() { peer.answer(request, status) }
            }
            try "".write(toFile: bed.path("oidc-agent.sock"), atomically: true, encoding: .utf8)
            let text = try await brokerctl(["env"], at: broker.path)
            #expect(text.succeeded && text.lines.count == (names ? 1 : 2), "\(text)")
            #expect(text.output.contains(bed.path("oidc-agent.sock")) == !names, "\(text)")
        }
    }

    @Test("a relative path of the socket becomes absolute")
    func relative() async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("here")
            let program = try PackageTree.program("brokerctl")
            let text = try await bed.require(
                "sh", ["-c", "cd \"$0\" && \"$1\" --socket broker.sock env", folder, program])
            for name in ["broker.sock", "oidc-agent.sock"] {
                #expect(text.contains("\(folder)/\(name)"), "\(text)")
            }
        }
    }

    @Test("env sets the variables in every shell without a broker", arguments: ShellTextTests.shells)
    func shells(shell: [String]) async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("it's a $folder")
            let program = try PackageTree.program("brokerctl")
            let text = try await bed.require(program, ["--socket", "\(folder)/broker.sock", "env"])
            let script = bed.path("script")
            let isFish = shell.first == "fish"
            let take = isFish ? "source \(bed.path("variables"))" : "eval \"$(cat \(bed.path("variables")))\""
            try text.write(toFile: bed.path("variables"), atomically: true, encoding: .utf8)
            try "\(take)\nprintenv BROKER_SOCKET OIDC_SOCK\n".write(toFile: script, atomically: true, encoding: .utf8)
            let result = try await bed.run(
                Launch("sh", ["-c", "cat \"$0\" | env HOME=\(bed.directory.path) HISTFILE= \"$@\"", script] + shell))
            #expect(
                result.lines == ["\(folder)/broker.sock", "\(folder)/oidc-agent.sock"], "\(result)\n\(text)")
        }
    }
}
