import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("oidc-agent's clients, unmodified, at the broker's socket for them")
struct OIDCAgentTests {
    @Test("Debian's oidc-token gets a token by the app's name, an alias of no app, or the issuer")
    func oidcToken() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(
                in: bed,
                options: {
                    $0.configuration =
                        "[doors.oidc_agent_accounts]\n\"wlcg prod\" = \"notes\"\nnotes = \"another\"\n"
                })
            let token = try await agent.scene.signIn().accessToken
            let issuer = agent.scene.provider.issuer
            for name in ["notes", "wlcg prod"] {
                let result = try await agent.run("oidc-token", name)
                #expect(result.succeeded && result.output == token + "\n", "\(name): \(result)")
            }
            // It accepts only https as an issuer, and this provider has none.
            for name in [issuer, issuer + "/"] {
                let answer = try await agent.plain(#"{"request":"access_token","issuer":"\#(name)"}"#)
                #expect(answer["access_token"] == .string(token), "\(name): \(answer)")
            }
            let all = try await agent.run(
                "oidc-token", "--all", "--time", "60", "--scope", DevelopmentScene.scope, "notes")
            #expect(all.output.split(separator: "\n").prefix(2) == [token[...], issuer[...]], "\(all)")
            let expiry = Int(all.output.split(separator: "\n").last ?? "") ?? 0
            #expect(expiry > Int(Date().timeIntervalSince1970))
            // Clients of an agent name scopes that the broker adds by itself.
            let reserved = try await agent.run(
                "oidc-token", "--scope", "openid \(DevelopmentScene.scope) profile offline_access", "notes")
            #expect(reserved.succeeded && reserved.output == token + "\n", "\(reserved)")
            // Below zero is a refresh.
            let forced = try await agent.run("oidc-token", "--force-new", "notes")
            #expect(forced.succeeded && forced.output != token + "\n")
            #expect(agent.scene.provider.refreshes == 1)
        }
    }

    @Test("a failure is shown with the command to run")
    func failures() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            let signIn = try await agent.run("oidc-token", "notes")
            #expect(signIn.status == .exited(1) && signIn.output.isEmpty)
            #expect(
                signIn.errors.hasPrefix("Error: ") && signIn.errors.hasSuffix("run: brokerctl login --app notes"),
                "\(signIn)")
            let more = try await agent.run(
                "oidc-token", "--scope", "openid more", "--aud", "https://api.example/", "notes")
            #expect(
                more.errors.hasSuffix("run: brokerctl login --app notes --scope more --resource https://api.example/"),
                "\(more)")
            let unknown = try await agent.run("oidc-token", "nobody's")
            #expect(unknown.status == .exited(1))
            #expect(unknown.errors.hasPrefix("Error: No account configured with that short name\n"), "\(unknown)")
            let issuer = try await agent.run("oidc-token", "https://nowhere.example/")
            #expect(issuer.status == .exited(1) && issuer.errors.hasSuffix("run: brokerctl apps list"), "\(issuer)")
            try await agent.scene.register("mail")
            let issuers = #"{"request":"access_token","issuer":"\#(agent.scene.provider.issuer)"}"#
            let several = try await agent.plain(issuers)
            #expect(several.text("error").hasSuffix(": mail, notes"), "\(several)")
            #expect(several.text("info").hasSuffix("run: oidc-token mail"), "\(several)")
            // Each miss is audited as a refused request, by this door.
            let audited = try await agent.scene.broker.call("audit.list")[path: "entries"].arrayValue ?? []
            let outcomes = audited.filter { $0["door"] == "oidc-agent" }.compactMap { $0["outcome"].stringValue }
            #expect(outcomes.contains("appNotFound") && outcomes.contains("invalidParameter"), "\(outcomes)")
        }
    }

    @Test("oidc-add and oidc-agent list the accounts")
    func status() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            try await agent.scene.register("mail")
            let loaded = try await agent.run("oidc-add", "-a")
            #expect(loaded.succeeded && loaded.output.hasSuffix(": \nmail\nnotes\n"), "\(loaded)")
            let status = try await agent.run("oidc-agent", "--status")
            #expect(status.succeeded && status.output.contains("mail, notes"), "\(status)")
            let json = try await agent.run("oidc-agent", "--status", "--json")
            let object = try AgentScene.object(json.output)
            #expect(json.succeeded && object["loaded_accounts"] == ["mail", "notes"], "\(json)")
            // It accepts no accounts from here.
            let removed = try await agent.run("oidc-add", "-R")
            #expect(
                removed.status == .exited(1) && removed.errors.hasSuffix("run: brokerctl accounts sign-out"),
                "\(removed)")
        }
    }

    @Test("the C library and Python's get a token, and the help of a failure")
    func libraries() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            let token = try await agent.scene.signIn().accessToken
            let issuer = agent.scene.provider.issuer
            let library = try await agent.python(
                """
                import ctypes
                c = ctypes.CDLL("liboidc-agent.so.4")
                for name in ("getAccessToken", "getAccessTokenForIssuer"):
                    f = getattr(c, name)
                    f.restype, f.argtypes = ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_char_p]
                print(c.getAccessToken(b"notes", 0, None, b"test").decode())
                print(c.getAccessTokenForIssuer(b"\(issuer)", 0, None, b"test").decode())
                print(c.getAccessToken(b"nothing", 0, None, None))
                """)
            #expect(library.output == "\(token)\n\(token)\nNone\n", "\(library)")
            let python = try await agent.python(
                """
                import liboidcagent as agent
                print(*agent.get_token_response("notes"))
                print(agent.get_access_token_by_issuer_url("\(issuer)/", 60, "hint", "\(DevelopmentScene.scope)"))
                for name in ("é🜁\\n\\x01", "x" * 4000):
                    try: agent.get_access_token(name)
                    except agent.OidcAgentError as e: print(e.message, "|", e.help)
                """)
            let lines = python.output.split(separator: "\n")
            #expect(python.succeeded && lines.count == 4, "\(python)")
            #expect(lines.first?.hasPrefix("\(token) \(issuer) ") == true && lines.dropFirst().first == token[...])
            for line in lines.dropFirst(2) {
                #expect(line.hasPrefix("No account configured with that short name | "))
                #expect(line.contains(", run: brokerctl apps add"))
            }
        }
    }

    @Test("the recipe's commands work in a shell")
    func recipe() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed)
            let token = try await agent.scene.signIn().accessToken
            let programs = try bed.makeDirectory("bin")
            try FileManager.default.createSymbolicLink(
                atPath: "\(programs)/brokerctl", withDestinationPath: try PackageTree.program("brokerctl"))
            let section = "Programs that ask oidc-agent"
            let lines = try ["eval", "oidc-token", "oidc-add"].flatMap {
                try Recipe.lines(of: section, beginningWith: $0)
            }
            let result = try await bed.run(
                Launch(
                    "sh", ["-c", lines.joined(separator: "\n").replacing("oidc-token work", with: "oidc-token notes")],
                    environment: [
                        "HOME": bed.directory.path, "PATH": "\(programs):/usr/bin:/bin",
                        "BROKER_SOCKET": agent.scene.broker.socket,
                    ]))
            #expect(result.succeeded && result.output.hasPrefix(token + "\n"), "\(result)")
            #expect(result.output.hasSuffix(": \nnotes\n"), "\(result)")
        }
    }

    @Test("two hundred oidc-token calls for an expired token cause one refresh")
    func oneRefresh() async throws {
        try await withTestBed { bed in
            let agent = try await AgentScene.make(in: bed) { $0.accessTokenLifetime = 0 }
            try await agent.scene.signIn()
            let provider = agent.scene.provider
            provider.setPolicy { $0.accessTokenLifetime = 3600 }
            var held = Fault(.token, .slow, delay: 0)
            held.isHeld = true
            provider.add(held)
            let callers = try bed.start(
                Launch(
                    "sh", ["-c", "for i in $(seq 200); do (oidc-token notes; echo $?) & done; echo all; wait"],
                    environment: agent.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 }), as: "callers")
            try await callers.waitForText("all\n")
            try await eventually("all of them wait for the broker") {
                // And the callers.
                try await agent.scene.broker.call("broker.status")["connections"]?.integerValue ?? 0 > 200
            }
            provider.removeFaults()
            #expect(await callers.exitStatus() == .exited(0), "\(callers.logTail)")
            let lines = callers.outputText.split(separator: "\n").filter { $0 != "all" }
            #expect(lines.count { $0 == "0" } == 200 && Set(lines).count == 2, "\(Set(lines))")
            #expect(provider.refreshes == 1)
        }
    }
}
