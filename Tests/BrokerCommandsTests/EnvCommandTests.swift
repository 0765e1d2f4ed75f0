import BrokerCommands
import BrokerLink
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl env")
struct EnvCommandTests {
    @Test("OIDC_SOCK names the usual socket if it exists, otherwise the configured one")
    func agentSocket() {
        func path(_ socket: String, _ configured: String?, there: Bool) -> String? {
            OIDCAgentSocket.path(
                beside: SocketLocation(path: socket), configured: { configured }, isThere: { _ in there })
        }
        let own = "/run/user/7/brokerd/broker.sock"
        #expect(path(own, "off", there: true) == "/run/user/7/brokerd/oidc-agent.sock")
        #expect(path(own, nil, there: false) == "/run/user/7/brokerd/oidc-agent.sock")
        #expect(path(own, "off", there: false) == nil)
        #expect(path(own, "/run/agent.sock", there: false) == "/run/agent.sock")
        #expect(path("/run/brokerd/broker.sock", nil, there: false) == nil)
        #expect(path("/run/brokerd/broker.sock", nil, there: true) == "/run/brokerd/oidc-agent.sock")
        #expect(path("broker.sock", nil, there: true) == "oidc-agent.sock")
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
