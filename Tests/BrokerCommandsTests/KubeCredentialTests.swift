import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl kube-credential")
struct KubeCredentialTests {
    private static let arguments = ["kube-credential", "--app", "k8s", "--scope", "openid"]

    private static func asked(_ version: String, config: String = "null") -> String {
        #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/\#(version)","spec":{"cluster":{"server":"#
            + #""https://k","config":\#(config)},"interactive":false},"later":1}"#
    }

    /// The broker's answer with an ID token of this expiry.
    private static func answer(endingOn time: String) -> String {
        ScriptedAnswers.token("AT-1").replacing("1900000000", with: time)
    }

    private func status(_ result: CommandResult) throws -> [String: String] {
        try #require(result.json["status"] as? [String: String], "\(result)")
    }

    @Test("the answer has the version of the request", arguments: ["v1", "v1beta1"])
    func version(_ version: String) async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        let result = try await brokerctl(
            Self.arguments + ["--token", "access"], at: broker.path,
            environment: ["KUBERNETES_EXEC_INFO": Self.asked(version)])
        #expect(
            result.output
                == #"{"apiVersion":"client.authentication.k8s.io/\#(version)","kind":"ExecCredential","status":{"#
                + #""expirationTimestamp":"2030-03-17T17:46:40Z","token":"AT-1"}}"# + "\n")
        #expect(result.errors.isEmpty)
    }

    @Test("the ID token and its own expiry are given unless the access token is requested")
    func idToken() async throws {
        let broker = try broker(["token.acquireSilent": Self.answer(endingOn: "2000000000")])
        let result = try await brokerctl(Self.arguments, at: broker.path)
        #expect(result.json["apiVersion"] as? String == "client.authentication.k8s.io/v1")
        #expect(try status(result) == ["token": "ID-1", "expirationTimestamp": "2033-05-18T03:33:20Z"])
        _ = try await brokerctl(Self.arguments + ["--token", "access"], at: broker.path)
        #expect(broker.requests.map { $0.params.contains(#""lifetimeOf":"idToken""#) } == [true, false])
    }

    @Test(
        "an ID token with an extreme expiry gets one that can be written",
        arguments: ["253402300800", "67768036191676799", "9223372036854775806"])
    func endless(_ expiry: String) async throws {
        let broker = try broker(["token.acquireSilent": Self.answer(endingOn: expiry)])
        let result = try await brokerctl(Self.arguments, at: broker.path)
        #expect(try status(result)["expirationTimestamp"] == "9999-12-31T23:59:59Z")
    }

    @Test("the command line overrides the app and scopes in the cluster's entry")
    func clusterSettings() async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        let environment = ["KUBERNETES_EXEC_INFO": Self.asked("v1", config: #"{"app":"k8s","scopes":["s"]}"#)]
        let first = ["kube-credential", "--token", "access"]
        #expect(try await brokerctl(first, at: broker.path, environment: environment).succeeded)
        let second = first + ["--app", "other", "--scope", "t"]
        #expect(try await brokerctl(second, at: broker.path, environment: environment).succeeded)
        #expect(
            broker.requests.map(\.params) == [#"{"app":"k8s","scopes":["s"]}"#, #"{"app":"other","scopes":["t"]}"#])
    }

    @Test("a failure prints its reason on standard error and nothing on standard output")
    func refusals() async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        for (asked, reason) in [
            (Self.asked("v1alpha1"), "set apiVersion of its exec entry to client.authentication.k8s.io/v1"),
            ("{}", "leave it to kubectl"), ("nonsense", "leave it to kubectl"),
        ] {
            let result = try await brokerctl(
                ["--json"] + Self.arguments, at: broker.path, environment: ["KUBERNETES_EXEC_INFO": asked])
            #expect(result.status == .exited(1) && result.output.isEmpty && result.errors.contains(reason), "\(result)")
        }
        let unnamed = try await brokerctl(["kube-credential"], at: broker.path)
        #expect(unnamed.status == .exited(1) && unnamed.errors.contains("--app"), "\(unnamed)")
    }
}
