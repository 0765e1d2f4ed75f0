import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("A provider behind a proxy, with a whole broker")
struct WayToProviderTests {
    private static let authority = "https://idp.example"

    private func broker(in bed: TestBed, _ variables: [String], caFile: String? = nil) async throws -> BrokerProcess {
        let broker = try await BrokerProcess.start(in: bed) {
            $0.wrapper = ["env"] + variables
            $0.caFile = caFile
        }
        try await broker.register("notes", clientID: "client-1", authority: Self.authority)
        return broker
    }

    /// Why a sign-in cannot even begin.
    private func refusal(of broker: BrokerProcess) async -> Refusal? {
        await expectRefusal("offline") {
            try await broker.call("token.acquireInteractive", ["app": "notes", "scopes": ["notes.read"]])
        }
    }

    @Test(
        "a proxy's refusal is reported with its status, without credentials, and not retried",
        arguments: [
            ("", "ann:right", "does not take the user and password, or has none (status 407)"),
            ("ann:wr0ng@", "ann:right", "does not take the user and password, or has none (status 407)"),
            ("ann:wr0ng@", "403", "does not let requests to idp.example through (status 403)"),
        ])
    func refused(credentials: String, answer: String, words: String) async throws {
        try await withTestBed { bed in
            let proxy = try await LoopbackFront.proxy(to: 1, answer, in: bed)
            let broker = try await broker(in: bed, ["https_proxy=http://\(credentials)127.0.0.1:\(proxy.port)"])
            let refusal = await refusal(of: broker)
            let message = refusal?.message ?? ""
            #expect(message.contains("the proxy http://127.0.0.1:\(proxy.port) \(words)"), "\(message)")
            #expect(refusal?.data["retryable"] == false)
            #expect(proxy.connections == ["connect idp.example:443"])
            for secret in ["ann", "wr0ng"] {
                #expect(!message.contains(secret) && !broker.process.errorText.contains(secret))
            }
        }
    }

    @Test("a proxy that is down is named, and the provider is not reported as down")
    func down() async throws {
        try await withTestBed { bed in
            let port = try FreePort.next()
            let broker = try await broker(in: bed, ["ALL_PROXY=http://ann:s3cret@127.0.0.1:\(port)"])
            let message = await refusal(of: broker)?.message ?? ""
            #expect(message.contains("no connection to the proxy http://127.0.0.1:\(port) could be made"), "\(message)")
            #expect(!message.contains("s3cret") && !broker.process.errorText.contains("s3cret"))
        }
    }

    @Test(
        "each form of no_proxy bypasses the proxy, and other hosts use it",
        arguments: [
            ("no_proxy=idp.example:443", false), ("NO_PROXY=*.example", false), ("no_proxy=other, .example", false),
            ("no_proxy=*", false), ("no_proxy=idp.example:8443", true), ("NO_PROXY=dp.example", true),
        ])
    func exceptions(variable: String, isAsked: Bool) async throws {
        try await withTestBed { bed in
            let proxy = try await LoopbackFront.proxy(to: 1, "403", in: bed)
            let broker = try await broker(in: bed, ["HTTPS_PROXY=http://127.0.0.1:\(proxy.port)", variable])
            let message = await refusal(of: broker)?.message ?? ""
            #expect(message.contains("proxy") == isAsked, "\(message)")
            #expect(proxy.connections.isEmpty != isAsked)
        }
    }

    @Test(
        "with the right password a provider of a private authority is reached, however that is configured",
        arguments: ["--ca-file", "SSL_CERT_FILE", "CURL_CA_BUNDLE"])
    func authorities(way: String) async throws {
        try await withTestBed { bed in
            let place = Self.authority
            let server = try await LoopbackServer.start(in: bed) { _ in
                .json([
                    "issuer": .string(place), "authorization_endpoint": .string(place + "/authorize"),
                    "token_endpoint": .string(place + "/token"), "jwks_uri": .string(place + "/keys"),
                ])
            }
            let certificate = try await TestCertificate.make(in: bed, names: ["idp.example"])
            let front = try await LoopbackFront.tls(to: server.port, certificate, in: bed)
            let proxy = try await LoopbackFront.proxy(to: front.port, "ann:right", in: bed)
            let variable = "https_proxy=http://ann:right@127.0.0.1:\(proxy.port)"

            let stranger = try await broker(in: bed, [variable])
            let message = await refusal(of: stranger)?.message ?? ""
            #expect(message.contains("certificate"), "\(message)")

            let isOption = way == "--ca-file"
            let broker = try await broker(
                in: bed, [variable] + (isOption ? [] : ["\(way)=\(certificate.authority)"]),
                caFile: isOption ? certificate.authority : nil)
            let connection = try await broker.connect()
            let call = Task {
                try await connection.call("token.acquireInteractive", ["app": "notes", "scopes": ["notes.read"]])
            }
            let opening = try #require(await connection.nextNotification())
            #expect(opening.text("params.url").hasPrefix(place + "/authorize?"))
            _ = try await connection.call(
                "interaction.cancel", ["interactionId": opening[path: "params.interactionId"]])
            await expectRefusal("userCanceled") { try await call.value }
        }
    }
}
