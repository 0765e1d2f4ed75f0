import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl apps add --register")
struct AddAppTests {
    private static let answer =
        #"{"app":{"name":"mail","clientId":"made-1","authority":"https://idp","scopes":["a"],"#
        + #""executables":[],"units":[],"sandboxIds":[],"confidential":true},"clientSecretExpiresOn":4102444800}"#

    @Test("--register makes a client at the provider with the token of a file and shows the result")
    func register() async throws {
        try await withTestBed { bed in
            let broker = try ScriptedBroker.answering { _ in Self.answer }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
            try Data("  initial-1 \nrest\n".utf8).write(to: file)
            bed.atEnd { try? FileManager.default.removeItem(at: file) }
            let result = try await brokerctl(
                [
                    "apps", "add", "mail", "--register", "--authority", "https://idp", "--scope", "a", "--confidential",
                    "--initial-access-token-file", file.path,
                ], at: broker.path)
            #expect(result.status == .exited(0), "\(result)")
            #expect(result.output.contains("made-1 (with a secret)"))
            #expect(result.output.contains("Secret ends"))
            let request = try #require(broker.requests.first).description
            #expect(request.contains("apps.registerAtProvider"))
            #expect(request.contains("initial-1"))
            #expect(!request.contains("rest"))
        }
    }

    @Test("the secret's authentication method is sent with it and shown with the app")
    func secretMethod() async throws {
        let shown = Self.answer.replacing(
            #""confidential":true"#, with: #""confidential":true,"tokenEndpointAuthMethod":"client_secret_post""#)
        let broker = try broker(["apps.register": shown])
        let result = try await brokerctl(
            [
                "apps", "add", "mail", "--client-id", "c", "--authority", "https://idp", "--client-secret-stdin",
                "--token-endpoint-auth-method", "client_secret_post",
            ], at: broker.path, input: "s-1\n")
        #expect(result.status == .exited(0), "\(result)")
        #expect(result.output.contains("client_secret_post"))
    }

    @Test("parameters for every sign-in are stored and shown with the app")
    func parameters() async throws {
        try await withTestBed { bed in
            let shown = Self.answer.replacing(
                #""scopes":["a"]"#,
                with: #""scopes":["a"],"query":{"access_type":"offline"},"resources":["https://api"]"#)
            let broker = try ScriptedBroker.answering { _ in shown }
            let result = try await brokerctl(
                [
                    "apps", "add", "mail", "--client-id", "c", "--authority", "https://idp", "--query",
                    "access_type=offline", "--resource", "https://api",
                ], at: broker.path)
            #expect(result.status == .exited(0), "\(result)")
            #expect(result.output.contains("access_type=offline") && result.output.contains("https://api"))
            let params = try #require(broker.requests.first { $0.method == "apps.register" }).params
            #expect(params.contains("access_type") && params.contains("resources"))
        }
    }

    @Test("a missing or empty file is reported without a request")
    func unfitFile() async throws {
        let broker = try broker([:])
        for path in ["/nonexistent/token", "/dev/null"] {
            let result = try await brokerctl(
                [
                    "apps", "add", "mail", "--register", "--authority", "https://idp", "--initial-access-token-file",
                    path,
                ], at: broker.path)
            #expect(result.status == .exited(1))
            #expect(result.errors.contains(path))
        }
    }

    @Test(
        "exactly one of --client-id and --register is required",
        arguments: [
            ["--register", "--client-id", "c"], [], ["--client-id", "c", "--confidential"],
            ["--client-id", "c", "--token-endpoint-auth-method", "client_secret_post"],
            ["--client-id", "c", "--client-secret-stdin", "--token-endpoint-auth-method", "private_key_jwt"],
            ["--register", "--client-secret-stdin"], ["--register", "--instance-aware"],
        ])
    func usage(_ arguments: [String]) async throws {
        let result = try await brokerctl(["apps", "add", "mail", "--authority", "https://idp"] + arguments)
        #expect(result.status == .exited(2))
    }

    @Test("a warning says that a system broker identifies no program by path")
    func executablesOfSystem() async throws {
        let broker = try broker([
            "apps.register": Self.answer,
            "broker.status": ScriptedAnswers.status.replacing(#""mode":"user""#, with: #""mode":"system""#),
        ])
        let add = ["apps", "add", "mail", "--client-id", "c", "--authority", "https://idp"]
        let program = try await brokerctl(add + ["--executable", "/usr/bin/env"], at: broker.path)
        #expect(program.succeeded && program.errors.contains("list system units instead"), "\(program)")
        #expect(try await brokerctl(add + ["--unit", "mail.service"], at: broker.path).errors.isEmpty)
    }

    @Test("an executable that can never match gives a warning, and the app is still added")
    func executables() async throws {
        let broker = try broker(["apps.register": Self.answer])
        try await withTestBed { bed in
            let link = bed.path("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/usr/bin/env")
            for (path, advice) in [
                ("/nowhere/app", "warning: /nowhere/app does not exist yet"), (link, "is a link to /usr/bin/env"),
                ("/etc/passwd", "warning: /etc/passwd is not an executable program"),
                ("env", "warning: env is not an absolute path"),
                ("/usr/bin/env", nil),
            ] {
                let result = try await brokerctl(
                    ["apps", "add", "mail", "--client-id", "c", "--authority", "https://idp", "--executable", path],
                    at: broker.path)
                #expect(result.status == .exited(0), "\(result)")
                #expect(advice.map(result.errors.contains) ?? result.errors.isEmpty, "\(result)")
            }
        }
    }
}
