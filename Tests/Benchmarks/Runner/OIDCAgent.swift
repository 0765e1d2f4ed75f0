import BrokerTestSupport
import CEchoServer
import Foundation

/// Debian's oidc-agent with one account at the same provider: the cost of a cached token there.
struct OIDCAgent {
    private static let account = "bench"

    /// - Returns: `nil` if oidc-agent is not installed.
    static func start(at provider: BenchProvider, in bed: TestBed) async throws -> OIDCAgent? {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/oidc-agent") else { return nil }
        let home = try bed.makeDirectory("agent-home")
        let client = try await PlainClient(
            "agent", authority: provider.issuer, redirectURI: "http://127.0.0.1/callback", http: HTTPSession(in: bed))
        let url = client.authorizationURL(["scope": "openid profile offline_access api"])
        let tokens = try await client.redeem(try await provider.signIn(.alice, at: url, in: bed)).json()
        guard let refreshToken = tokens.objectValue?["refresh_token"]?.stringValue else {
            throw ProcessFailure("The provider gave no refresh token: \(tokens)")
        }
        let path = bed.path("agent.sock")
        let process = try bed.start(
            Launch(
                "/usr/bin/oidc-agent", ["--console", "-a", path], environment: ["HOME": home, "TMPDIR": home]),
            as: "oidc-agent")
        try await eventually("oidc-agent listens") {
            try process.requireRunning()
            return FileManager.default.fileExists(atPath: path)
        }
        try "secret".write(toFile: "\(home)/password", atomically: true, encoding: .utf8)
        try await bed.require(
            "env",
            [
                "HOME=\(home)", "OIDC_SOCK=\(path)", "OIDC_REFRESH_TOKEN=\(refreshToken)", "oidc-gen",
                account, "--issuer", provider.issuer, "--client-id", "agent", "--client-secret", "",
                "--scope", "openid profile offline_access api", "--flow", "refresh", "--rt-env",
                "--pw-file", "\(home)/password", "--redirect-uri", "http://localhost:4242", "--confirm-default",
                "--confirm-yes",
            ])
        return OIDCAgent(socket: path)
    }

    private let socket: String
    private let command = ["/usr/bin/oidc-token", account]

    /// The socket of a broker for the same programs, with an app of the account's name.
    static func atBroker(_ broker: BrokerProcess) -> OIDCAgent {
        OIDCAgent(socket: broker.socket.replacing("broker.sock", with: "oidc-agent.sock"))
    }

    /// The memory of the whole program.
    func programs() throws -> Distribution {
        use()
        return try Programs.time(command)
    }

    /// The socket that its programs and its library use.
    private func use() { setenv("OIDC_SOCK", socket, 1) }

    /// Each with a new connection and oidc-agent's encrypted exchange.
    func tokens(_ count: Int = 2_000) throws -> Distribution {
        use()
        var times = [UInt64](repeating: 0, count: count)
        for rounds in [count / 10, count] { try check("ask oidc-agent", agent_tokens(Self.account, rounds, &times)) }
        return Distribution(nanoseconds: times)
    }
}
