import BrokerClient
import BrokerTestSupport
import BrokerValues
import Foundation

/// A way to request a token from the broker: a front, or a client of one.
struct Asker: Sendable {
    struct Question: Sendable {
        var app: String
        var isForced = false
    }

    enum Answer: Hashable, Sendable {
        case token(String)
        /// The error's kind, by its name in the protocol.
        case refused(String)
    }

    let name: String
    let ask: @Sendable (Question) async throws -> Answer

    /// All of them.
    ///
    /// - Parameter sockets: the broker's, and the one for oidc-agent's programs.
    static func all(_ sockets: (own: String, agent: String), _ scope: String, in bed: TestBed) throws -> [Asker] {
        let control = try PackageTree.program("brokerctl")
        return [
            protocolItself(sockets.own, scope), swift(sockets.own, scope), python(sockets.own, scope, in: bed),
            brokerctl(control, sockets.own, scope, in: bed), oidcAgent(sockets.agent, scope),
            oidcToken(sockets.agent, scope, in: bed),
        ]
    }

    private static func protocolItself(_ socket: String, _ scope: String) -> Asker {
        Asker(name: "JSON-RPC") { question in
            let connection = try await WireConnection.connect(to: socket)
            defer { Task { await connection.close() } }
            let params: JSONObject = [
                "app": .string(question.app), "scopes": [.string(scope)], "forceRefresh": .bool(question.isForced),
            ]
            do {
                return .token(try await connection.call("token.acquireSilent", params).text("accessToken"))
            } catch let refusal as Refusal {
                return .refused(refusal.kind ?? "\(refusal)")
            }
        }
    }

    private static func swift(_ socket: String, _ scope: String) -> Asker {
        Asker(name: "Swift") { question in
            var configuration = PublicClientApplicationConfig(app: question.app)
            configuration.socketPath = socket
            let application = try PublicClientApplication(configuration: configuration)
            var parameters = SilentTokenParameters(scopes: [scope])
            parameters.forceRefresh = question.isForced
            do throws(BrokerClientError) {
                return .token(try await application.acquireTokenSilent(with: parameters).accessToken)
            } catch {
                return .refused(error.code.rawValue)
            }
        }
    }

    private static func python(_ socket: String, _ scope: String, in bed: TestBed) -> Asker {
        let script = """
            import sys
            from brokerclient import Broker, BrokerError
            try:
                token = Broker(sys.argv[1]).acquire_token_silent(sys.argv[2], [sys.argv[3]], force_refresh=sys.argv[4] == "true")
                print("token", token.access_token)
            except BrokerError as error:
                print("refused", error.kind)
            """
        return Asker(name: "Python") { question in
            let environment = [
                "PYTHONPATH": PackageTree.root.appending(path: "Sources/Python").path, "PYTHONDONTWRITEBYTECODE": "1",
            ]
            let words = ["-c", script, socket, question.app, scope, "\(question.isForced)"]
            let result = try await bed.run(Launch("/usr/bin/python3", words, environment: environment))
            let parts = result.output.split(whereSeparator: \.isWhitespace).map(String.init)
            guard result.succeeded, parts.count == 2 else { throw ProcessFailure("\(result)") }
            return parts[0] == "token" ? .token(parts[1]) : .refused(parts[1])
        }
    }

    private static func brokerctl(_ program: String, _ socket: String, _ scope: String, in bed: TestBed) -> Asker {
        Asker(name: "brokerctl") { question in
            let words = ["--socket", socket, "token", "--json", "--app", question.app, "--scope", scope]
            let result = try await bed.run(Launch(program, words + (question.isForced ? ["--force-refresh"] : [])))
            guard let answer = JSONObject(json: result.output.utf8) else { throw ProcessFailure("\(result)") }
            return result.succeeded
                ? .token(answer.text("accessToken")) : .refused(answer.text("data.kind"))
        }
    }

    private static func oidcAgent(_ socket: String, _ scope: String) -> Asker {
        Asker(name: "oidc-agent's socket") { question in
            let client = try await LineClient.connect(to: socket)
            defer { Task { await client.close() } }
            let validity = question.isForced ? #","min_valid_period":-1"# : ""
            try await client.send(
                #"{"request":"access_token","account":"\#(question.app)","scope":"\#(scope)"\#(validity)}"#)
            let text = try await client.readToEnd()
            guard let answer = JSONObject(json: text.utf8) else { throw ProcessFailure(text) }
            if let token = answer["access_token"]?.stringValue { return .token(token) }
            return .refused(kind(error: answer.text("error"), info: answer.text("info")))
        }
    }

    private static func oidcToken(_ socket: String, _ scope: String, in bed: TestBed) -> Asker {
        Asker(name: "oidc-token") { question in
            let words = (question.isForced ? ["--force-new"] : []) + ["--scope", scope, question.app]
            let result = try await bed.run(
                Launch("/usr/bin/oidc-token", words, environment: ["OIDC_SOCK": socket, "HOME": bed.directory.path]))
            guard !result.succeeded else { return .token(result.output.trimmingCharacters(in: .newlines)) }
            let lines = result.errors.split(separator: "\n", maxSplits: 1).map(String.init)
            return .refused(kind(error: lines.first ?? "", info: lines.last ?? ""))
        }
    }

    /// oidc-agent's protocol has no kinds: the advised command distinguishes them.
    private static func kind(error: String, info: String) -> String {
        let kinds = [
            "brokerctl login": "interactionRequired", "brokerctl unlock": "locked",
            "brokerctl grants list": "accessDenied", "brokerctl apps add": "appNotFound",
        ]
        return kinds.first { info.contains("run: \($0.key)") }?.value ?? "\(error) \(info)"
    }
}
