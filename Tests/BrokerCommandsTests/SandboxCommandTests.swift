import BrokerTestSupport
import Testing

@Suite("brokerctl sandboxes")
struct SandboxCommandTests {
    private static let path = "/run/user/7/brokerd/sandboxes/h2/broker.sock"

    @Test("add prints the socket and examples that pass its folder to common programs")
    func add() async throws {
        let broker = try broker(["sandboxes.open": #"{"handle":"h2","path":"\#(Self.path)"}"#])
        let result = try await brokerctl(
            ["sandboxes", "add", "--engine", "podman", "--id", "build", "--app", "ci"], at: broker.path)
        #expect(result.lines.first == "podman:build has the socket \(Self.path)", "\(result)")
        #expect(
            result.output.contains(
                "podman run -v /run/user/7/brokerd/sandboxes/h2:/run/broker:ro -e 'BROKER_SOCKET="))
        #expect(result.output.contains("brokerctl sandboxes remove h2"))
    }

    @Test("list shows each sandbox's apps and opener, with foreign text made safe")
    func list() async throws {
        let broker = try broker([
            "sandboxes.list": """
            {"sandboxes":[{"handle":"h2","path":"\(Self.path)","engine":"podman","id":"bu\\u001bild","apps":["ci"],\
            "rights":["token"],"openedBy":{"tier":"unknown","id":"/bin/make"},"openedOn":1}]}
            """
        ])
        let result = try await brokerctl(["sandboxes", "list"], at: broker.path)
        for part in ["h2", "ci", "token", "never", "/bin/make", Self.path] {
            #expect(result.output.contains(part), "\(result)")
        }
        #expect(!result.output.contains("\u{1b}"))
    }

    @Test(
        "an incomplete sandbox is a usage error",
        arguments: [
            ["sandboxes", "add", "--id", "x"], ["sandboxes", "add", "--engine", "podman"],
            ["sandboxes", "add", "--engine", "podman", "--id", "x", "--right", "admin"],
            ["run-in", "--engine", "podman", "--id", "x"], ["sandboxes", "remove"],
        ])
    func usage(arguments: [String]) async throws {
        #expect(try await brokerctl(arguments).status == .exited(2))
    }
}
