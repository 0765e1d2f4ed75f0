import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("The exchange at the socket for oidc-agent's clients")
struct OIDCAgentExchangeTests {
    @Test("plain JSON supports every request, and the broker closes after its answer")
    func plain() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            let signIn = try await agent.scene.signIn()
            let issuer = agent.scene.provider.issuer
            let access = try await agent.plain(#"{"request":"access_token","account":"notes"}"#)
            #expect(access["status"] == "success" && access["access_token"] == .string(signIn.accessToken))
            #expect(access["issuer"] == .string(issuer) && access["expires_at"]?.integerValue ?? 0 > 1_700_000_000)
            let identity = try await agent.plain(#"{"request":"id_token","issuer":"\#(issuer)/"}"#)
            #expect(identity["id_token"] == .string(signIn.token.text("idToken")) && identity["access_token"] == nil)
            #expect(try await agent.plain(#"{"request":"loaded_accounts"}"#)["info"] == ["notes"])
            #expect(try await agent.plain(#"{"request":"check"}"#)["status"] == "success")
            #expect(try await agent.plain(#"{"request":"status"}"#).text("info").contains("notes"))
            #expect(try await agent.plain(#"{"request":"status_json"}"#)[path: "info.loaded_accounts"] == ["notes"])
            // No token of this provider lives that long: it is refreshed, and the best available.
            let long = #"{"request":"access_token","account":"notes","min_valid_period":99999999}"#
            #expect(try await agent.plain(long)["access_token"] != .string(signIn.accessToken))
            for (request, error) in [
                (#"{"request":"mytoken","account":"notes"}"#, "There is no request mytoken"),
                (#"{"request":"access_token"}"#, "Bad request: account is missing"),
                ("GET / HTTP/1.1\r\n\r\n", "Bad request: neither"),
                (#"{"request":"access_token","account":"notes","scope":"a\"b"}"#, ""),
                (#"{"request":"access_token","account":"notes","audience":"not a URI"}"#, ""),
            ] {
                let answer = try await agent.plain(request)
                #expect(answer["status"] == "failure" && answer.text("error").hasPrefix(error), "\(request) \(answer)")
                #expect(answer.text("info").contains(", run: brokerctl "), "\(answer)")
            }
        }
    }

    @Test("a scope narrows the token, even if a wider one is cached")
    func narrowed() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            let (provider, broker) = (agent.scene.provider, agent.scene.broker)
            try await agent.scene.register("notes", ["scopes": ["notes.read", "notes.write"]])
            let wide = try await broker.signIn(app: "notes", scopes: ["notes.read", "notes.write"], in: bed) {
                try await provider.signIn(.alice, at: $0, in: bed)
            }
            for (named, scopes) in [("openid", []), ("notes.read", ["notes.read"])] as [(String, [String])] {
                let whole = try await agent.plain(#"{"request":"access_token","account":"notes"}"#)
                #expect(whole["access_token"] == .string(wide.accessToken), "\(whole)")
                let answer = try await agent.plain(
                    #"{"request":"access_token","account":"notes","scope":"\#(named)"}"#)
                #expect(answer["status"] == "success" && answer["access_token"] != whole["access_token"], "\(answer)")
                let kept = try await broker.acquireSilent(app: "notes", scopes: scopes, ["narrow": true])
                #expect(kept["accessToken"] == answer["access_token"])
                #expect(kept["scopes"]?.arrayValue?.contains("notes.write") == false, "\(kept["scopes"] ?? .null)")
            }
        }
    }

    @Test("a message may arrive in pieces, and a connection accepts only one request")
    func pieces() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            let client = try await LineClient.connect(to: agent.socket)
            for piece in [#"{"requ"#, #"est":"che"#, #"ck"}{"request":"stat"#] { try await client.send(piece) }
            #expect(try AgentScene.object(try await client.readToEnd())["status"] == "success")
        }
    }

    @Test("a message that stops in the middle blocks no other, and times out with an error")
    func halfOpen() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(
                in: bed, options: { $0.configuration = "[socket]\nidle_line_timeout = 1\n" })
            try await agent.scene.signIn()
            var open: [LineClient] = []
            for part in ["", "{\"request\"", "AAAA", String(repeating: "AQ", count: 21) + "A="] {
                let client = try await LineClient.connect(to: agent.socket)
                try await client.send(part)
                open.append(client)
            }
            #expect(try await agent.plain(#"{"request":"access_token","account":"notes"}"#)["status"] == "success")
            for (number, client) in open.enumerated().dropFirst() {
                let said = try await client.readToEnd()
                // After the broker's key, if one was sent.
                let answer = try AgentScene.object(String(said.dropFirst(number == 3 ? 44 : 0)))
                #expect(answer.text("error") == "Bad request: the rest of it did not come in time", "\(said)")
            }
            let cut = try await LineClient.connect(to: agent.socket)
            try await cut.send("{\"request\"")
            await cut.shutDownWriting()
            #expect(
                try AgentScene.object(try await cut.readToEnd()).text("error") == "Bad request: it ended in the middle")
        }
    }

    @Test("a message of sixteen mebibytes ends at its limit, with bounded memory and an error")
    func tooLong() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            let client = try await LineClient.connect(to: agent.socket)
            try await client.send(#"{"request":""#)
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
            // A client that takes longer than a moment is cut off, and the rest of its data is lost.
            for _ in 0..<16 where (try? await client.send(piece)) == nil { break }
            let said = try await client.readToEnd()
            #expect(said.contains("Bad request: more than 65536 bytes"), "\(said)")
            #expect(try await agent.plain(#"{"request":"check"}"#)["status"] == "success")
        }
    }

    @Test("the door gives no more rights than the broker's own socket, and the audit log names it")
    func rights() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            try await agent.scene.signIn()
            try await agent.scene.register("closed", ["executables": ["/usr/bin/true"]])
            let refused = try await agent.plain(#"{"request":"access_token","account":"closed"}"#)
            #expect(
                refused["status"] == "failure" && refused.text("info").hasSuffix("run: brokerctl grants list"),
                "\(refused)")
            #expect(try await agent.plain(#"{"request":"loaded_accounts"}"#)["info"] == ["notes"])
            #expect(try await agent.plain(#"{"request":"access_token","account":"notes"}"#)["status"] == "success")
            let entries = try await agent.scene.broker.call("audit.list")["entries"]?.arrayValue ?? []
            let doors = entries.filter { $0["door"] == "oidc-agent" }
            #expect(doors.map { $0["outcome"] } == ["accessDenied", "cached"], "\(entries)")
            #expect(entries.contains { $0["door"] == "socket" })
            let metrics = try await agent.scene.broker.call("broker.metrics")["doors"]?.arrayValue ?? []
            #expect(metrics.contains(["door": "oidc-agent", "count": 3]), "\(metrics)")
        }
    }

    @Test("the agent's lock and unlock work")
    func lock() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            try await agent.scene.signIn()
            #expect(try await agent.plain(#"{"request":"lock","password":"x"}"#)["status"] == "success")
            let locked = try await agent.run("oidc-token", "notes")
            #expect(locked.status == .exited(1) && locked.errors.hasSuffix("run: brokerctl unlock"), "\(locked)")
            let loaded = try await agent.plain(#"{"request":"loaded_accounts"}"#)
            #expect(loaded.text("info").hasSuffix("run: brokerctl unlock"), "\(loaded)")
            #expect(try await agent.plain(#"{"request":"check"}"#)["status"] == "success")
            #expect(try await agent.plain(#"{"request":"unlock","password":"x"}"#)["status"] == "success")
            #expect(try await agent.run("oidc-token", "notes").succeeded)
        }
    }

    @Test("the socket does not exist if it is disabled")
    func off() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed, options: { $0.arguments = ["--oidc-agent-socket", "off"] })
            #expect(!FileManager.default.fileExists(atPath: agent.socket))
            let elsewhere = bed.path("elsewhere.sock")
            var scene = agent.scene
            try await scene.restart { $0.arguments = ["--oidc-agent-socket", elsewhere] }
            #expect(!FileManager.default.fileExists(atPath: agent.socket))
            #expect(FileManager.default.fileExists(atPath: elsewhere))
            await scene.broker.stop()
            #expect(!FileManager.default.fileExists(atPath: elsewhere))
        }
    }
}
