import BrokerTestSupport
import Testing

@Suite("brokerctl sandboxes")
struct SandboxCommandTests {
    private static let path = "/run/user/7/brokerd/sandboxes/h2/broker.sock"

    @Test("add prints the socket, and how the usual programs are given its folder")
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

    @Test("list says what each is for and who opened it; what is foreign steers no terminal")
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
        "half a sandbox is a mistake",
        arguments: [
            ["sandboxes", "add", "--id", "x"], ["sandboxes", "add", "--engine", "podman"],
            ["sandboxes", "add", "--engine", "podman", "--id", "x", "--right", "admin"],
            ["run-in", "--engine", "podman", "--id", "x"], ["sandboxes", "remove"],
        ])
    func usage(arguments: [String]) async throws {
        #expect(try await brokerctl(arguments).status == .exited(2))
    }
}
