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

    /// A JWT with these claims; nobody here checks its signature.
    private static func idToken(_ claims: String) -> String {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }
        return part(#"{"alg":"none"}"#) + "." + part(claims) + ".c2ln"
    }

    private static func answer(_ idToken: String) -> String {
        ScriptedAnswers.token("AT-1").replacing("ID-1", with: idToken)
    }

    private func status(_ result: CommandResult) throws -> [String: String] {
        try #require(result.json["status"] as? [String: String], "\(result)")
    }

    @Test("answers in the version that it was asked in", arguments: ["v1", "v1beta1"])
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

    @Test("the ID token is given unless the access token is asked for, and its own end with it")
    func idToken() async throws {
        let idToken = Self.idToken(#"{"exp":2000000000,"name":"ÿ?>~"}"#)
        let broker = try broker(["token.acquireSilent": Self.answer(idToken)])
        let result = try await brokerctl(Self.arguments, at: broker.path)
        #expect(result.json["apiVersion"] as? String == "client.authentication.k8s.io/v1")
        #expect(try status(result) == ["token": idToken, "expirationTimestamp": "2033-05-18T03:33:20Z"])
    }

    @Test(
        "an ID token that says it never ends has an end that can be written",
        arguments: ["253402300800", "67768036191676799", "9223372036854775807"])
    func endless(_ expiry: String) async throws {
        let broker = try broker(["token.acquireSilent": Self.answer(Self.idToken("{\"exp\":\(expiry)}"))])
        let result = try await brokerctl(Self.arguments, at: broker.path)
        #expect(try status(result)["expirationTimestamp"] == "9999-12-31T23:59:59Z")
    }

    @Test("an ID token that has ended is renewed with its access token, once; after that only a sign-in helps")
    func staleIDToken() async throws {
        let log = Recorder<String>()
        let (old, new) = (Self.idToken(#"{"exp":1000000000}"#), Self.idToken(#"{"exp":2000000000}"#))
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add(request.params)
                peer.answer(request, Self.answer(request.string("rejectedToken") == "AT-1" ? new : old))
            }
        }
        #expect(try status(try await brokerctl(Self.arguments, at: broker.path))["token"] == new)
        #expect(log.all.count == 2)

        let stuck = try BrokerCommandsTests.broker(["token.acquireSilent": Self.answer(old)])
        let result = try await brokerctl(Self.arguments, at: stuck.path)
        #expect(result.status == .exited(4) && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasSuffix("To sign in: brokerctl login --app k8s --scope openid\n"))
    }

    @Test("the cluster's entry may name app and scopes; what is on the command line counts first")
    func clusterSettings() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add(request.params)
                peer.answer(request, ScriptedAnswers.token("AT-1"))
            }
        }
        let environment = ["KUBERNETES_EXEC_INFO": Self.asked("v1", config: #"{"app":"k8s","scopes":["s"]}"#)]
        let first = ["kube-credential", "--token", "access"]
        #expect(try await brokerctl(first, at: broker.path, environment: environment).succeeded)
        let second = first + ["--app", "other", "--scope", "t"]
        #expect(try await brokerctl(second, at: broker.path, environment: environment).succeeded)
        #expect(log.all == [#"{"app":"k8s","scopes":["s"]}"#, #"{"app":"other","scopes":["t"]}"#])
    }

    @Test("what cannot be answered has its reason on standard error and nothing on standard output")
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
