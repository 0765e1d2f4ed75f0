import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl git-credential")
struct GitCredentialTests {
    private func request(_ lines: String...) -> GitCredentialRequest { GitCredentialRequest(lines: lines) }

    @Test("a token goes only to https hosts and to this machine")
    func schemes() {
        func verdict(_ scheme: String, _ host: String) -> GitCredentialAnswer.Verdict {
            GitCredentialAnswer.verdict(on: request("protocol=\(scheme)", "host=\(host)"), hosts: [])
        }
        #expect(verdict("https", "git.example.org") == .ours)
        for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:80", "127.9.9.9"] {
            #expect(verdict("http", host) == .ours, "\(host)")
        }
        for host in [
            "git.example.org", "127.0.0.1.example.org", "localhost.example.org", "[::2]", "127.0.0", "127.0.0.1x",
            "127.+1.0.1", "127.0.0.+1:80",
            "[::1].example.org", "[::1]:80.example.org", "localhost:80:1x",
        ] {
            #expect(verdict("http", host) == .unencrypted, "\(host)")
        }
        for scheme in ["", "smtp", "ssh", "cert", "httpsx"] { #expect(verdict(scheme, "git.example.org") == .notOurs) }
        #expect(verdict("https", "") == .notOurs)
        #expect(verdict("https", "git.example.org\r") == .notOurs)
    }

    @Test("only the named hosts, including ports, get a token")
    func hosts() {
        func verdict(_ host: String) -> GitCredentialAnswer.Verdict {
            GitCredentialAnswer.verdict(
                on: request("protocol=https", "host=\(host)"), hosts: ["git.example.org", "Code.example.org:8443"])
        }
        #expect(verdict("GIT.example.org") == .ours && verdict("code.example.org:8443") == .ours)
        for host in ["git.example.org:8443", "code.example.org", "evil.git.example.org", "git.example.org.evil"] {
            #expect(verdict(host) == .notOurs, "\(host)")
        }
    }

    private func answer(_ lines: String...) async throws -> [String] {
        let broker = try broker([
            "token.acquireSilent": ScriptedAnswers.token("AT-1"), "accounts.get": #"{"account":null}"#,
        ])
        let result = try await brokerctl(
            ["git-credential", "--app", "work", "get"], at: broker.path,
            input: lines.joined(separator: "\n") + "\n\n")
        #expect(result.succeeded && result.errors.isEmpty, "\(result)")
        return result.lines
    }

    @Test("git gets the token as password, with the username that the host expects")
    func basic() async throws {
        let expiry = "password_expiry_utc=1900000000"
        #expect(
            try await answer("protocol=https", "host=git.example.org")
                == ["username=oauth2", "password=AT-1", expiry])
        #expect(
            try await answer("protocol=https", "host=bitbucket.org")
                == ["username=x-token-auth", "password=AT-1", expiry])
        #expect(
            try await answer("protocol=https", "host=h", "username=ada", "later=x", "capability[]=authtype")
                == ["username=ada", "password=AT-1", expiry])
        // A server that accepts passwords gets one, as does a git that supports nothing else.
        #expect(
            try await answer(
                "capability[]=authtype", "protocol=https", "host=h", "wwwauth[]=Bearer realm=x", "wwwauth[]=Basic x")
                == ["username=oauth2", "password=AT-1", expiry])
        #expect(
            try await answer("protocol=https", "host=h", "wwwauth[]=Bearer realm=x")
                == ["username=oauth2", "password=AT-1", expiry])
    }

    @Test("the program does the same under the name that git looks for")
    func link() async throws {
        try await withTestBed { bed in
            let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
            let link = bed.path("git-credential-broker")
            try FileManager.default.createSymbolicLink(
                atPath: link, withDestinationPath: try PackageTree.program("brokerctl"))
            let result = try await bed.run(
                Launch(
                    link, ["--app", "work", "--scope", "repo", "get"], environment: ["BROKER_SOCKET": broker.path]),
                input: "protocol=https\nhost=h\n")
            #expect(result.output.contains("password=AT-1\n"), "\(result)")
        }
    }

    @Test("errors never go to standard output, even with --json, and git stops asking", arguments: [[], ["--json"]])
    func errors(_ options: [String]) async throws {
        let arguments = options + ["git-credential", "--app", "work", "--scope", "repo", "get"]
        let input = "protocol=https\nhost=h\n"
        for (kind, status) in [("interactionRequired", Int32(4)), ("grantRequired", 5), ("internal", 1)] {
            let broker = try ScriptedBroker.refusing(kind, message: "It did not work.")
            let result = try await brokerctl(arguments, at: broker.path, input: input)
            #expect(result.output == "quit=1\n" && result.status == .exited(status), "\(result)")
            #expect(result.errors.hasPrefix("brokerctl: It did not work."))
        }
        let absent = try await brokerctl(arguments, at: "/nowhere/broker.sock", input: input)
        #expect(absent.output == "quit=1\n" && absent.status == .exited(3), "\(absent)")
        #expect(absent.errors.contains("No broker listens at /nowhere/broker.sock."))
    }

    @Test("a token that the server refused reaches the broker but no argument or message")
    func erase() async throws {
        let broker = try ScriptedBroker.answering {
            $0.method == "accounts.get" ? #"{"account":null}"# : ScriptedAnswers.token("AT-2")
        }
        let result = try await brokerctl(
            ["git-credential", "--app", "work", "--scope", "repo", "erase"], at: broker.path,
            input: "protocol=https\nhost=h\nusername=oauth2\npassword=AT-1\n")
        #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
        #expect(
            broker.requests.last?.description
                == #"token.acquireSilent {"app":"work","rejectedToken":"AT-1","scopes":["repo"]}"#,
            "\(broker.requests)")
        // Without a password, for another host, or without encryption, nothing is sent.
        for input in ["protocol=https\nhost=h\n", "protocol=http\nhost=h\npassword=AT-1\n", ""] {
            let before = broker.requests.count
            let silent = try await brokerctl(
                ["git-credential", "--app", "work", "erase"], at: broker.path, input: input)
            #expect(silent.succeeded && silent.output.isEmpty && silent.errors.isEmpty, "\(silent)")
            #expect(broker.requests.count == before)
        }
    }

    @Test("over http, git gets no token and the user a reason")
    func unencrypted() async throws {
        let result = try await brokerctl(
            ["git-credential", "--app", "work", "get"], at: "/nowhere/broker.sock",
            input: "protocol=http\nhost=git.example.org\n")
        #expect(result.succeeded && result.output.isEmpty)
        #expect(result.errors.contains("use an https URL"), "\(result)")
    }
}
