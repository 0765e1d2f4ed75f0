import BrokerRPC
import BrokerServer
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Messages over a real socket")
struct MessageTests {
    @Test("a line of invalid JSON is answered, and the connection stays usable")
    func malformed() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            for line in ["{", "", "nonsense", #"{"jsonrpc":"2.0","id":1,"method":"broker.status""#, "\u{1}"] {
                #expect(try await client.ask(line)?.contains(#""id":null,"error":{"code":-32700,"#) == true)
            }
            try await client.send([0x22, 0xff, 0x22, 0x0a])
            #expect(try await client.readLine()?.contains("-32700") == true)
            #expect(try await client.call(GetBrokerStatus.self, Empty()).version == "1.2.3")
        }
    }

    @Test("a non-request is -32600, an unknown method -32601, and a wrong param -32602")
    func codes() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            #expect(try await client.refusal("[]").code == -32600)
            #expect(try await client.refusal(#"{"id":1,"method":"broker.status"}"#).code == -32600)
            let method = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"token.steal"}"#)
            #expect(method.code == -32601)
            #expect(method.message.contains("token.steal"))
            let params = try await client.refusal(
                #"{"jsonrpc":"2.0","id":1,"method":"broker.status","params":{"verbose":true}}"#)
            #expect(params.code == -32602)
            #expect(params.data?.field == "verbose")
            let positional = try await client.refusal(
                #"{"jsonrpc":"2.0","id":1,"method":"broker.status","params":[1]}"#)
            #expect(positional.code == -32602)
            for none in ["null", "[]", "{}"] {
                let line = #"{"jsonrpc":"2.0","id":1,"method":"broker.status","params":\#(none)}"#
                #expect(try await client.ask(line)?.contains(#""version":"1.2.3""#) == true)
            }
        }
    }

    @Test("every method of the registry has a handler")
    func everyMethod() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            for method in MethodRegistry.methods {
                let answer = try await client.ask(#"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)"}"#)
                #expect(answer?.contains(#""code":-32601"#) == false, "\(method.name)")
            }
        }
    }

    @Test("a line without an end is refused at a megabyte, and the connection closed")
    func oversized() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            try await client.send([UInt8](repeating: UInt8(ascii: " "), count: (1 << 20) + 1))
            let all = try await client.readToEnd()
            #expect(all.contains(#""id":null,"error":{"code":-32700,"#))
            #expect(all.split(separator: "\n").count == 1)
            #expect(try await server.connect().call(GetBrokerStatus.self, Empty()).connections == 1)
        }
    }

    @Test("requests before a cut-off line are answered, and the cut-off one is refused")
    func truncated() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            try await client.send(GetBrokerStatus.requestLine(id: 7, Empty()) + Array(#"{"jsonrpc":"2."#.utf8))
            await client.shutDownWriting()
            let lines = try await client.readToEnd().split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines.contains { $0.contains(#""id":7,"result""#) })
            #expect(lines.contains { $0.contains("-32700") })
        }
    }

    @Test("two requests with one id are both answered with it")
    func duplicatedID() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            let line = #"{"jsonrpc":"2.0","id":"same","method":"rpc.discover"}"#
            try await client.send("\(line)\n\(line)\n")
            for answer in try await client.readLines(2) {
                #expect(answer.hasPrefix(#"{"jsonrpc":"2.0","id":"same","result":"#))
            }
        }
    }

    @Test("a batch is answered with one array, which leaves its notifications out")
    func batch() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            try await client.sendLine(
                """
                [{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"mail","scopes":["read"]}},\
                {"jsonrpc":"2.0","id":2,"method":"accounts.list","params":{}},\
                {"jsonrpc":"2.0","method":"broker.status"},\
                7,\
                {"jsonrpc":"2.0","id":"4","method":"nothing.here"},\
                {"jsonrpc":"2.0","id":5,"method":"apps.list"}]
                """)
            guard case .array(let answers) = try await client.readJSON() else {
                Issue.record("not an array")
                return
            }
            let ids = answers.map { answer in
                switch answer["id"] {
                case .number(let text)?: text
                case .string(let text)?: "\"\(text)\""
                default: "null"
                }
            }
            #expect(ids.sorted() == ["\"4\"", "1", "2", "5", "null"])
            #expect(answers.count { $0["error"] != nil } == 2)
        }
    }

    private func batch(_ methods: [String]) -> String {
        let items = methods.enumerated().map { #"{"jsonrpc":"2.0","id":\#($0),"method":"\#($1)"}"# }
        return "[\(items.joined(separator: ","))]"
    }

    @Test("answers that are too large together become errors, and the connection stays")
    func largeBatch() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            try await client.sendLine(batch(Array(repeating: "rpc.discover", count: 64)))
            let line = try #require(try await client.readLine())
            let refused = line.ranges(of: "is too large beside those of its batch").count
            #expect(line.utf8.count < 7 << 20 && line.ranges(of: #""jsonrpc":"2.0","id":"#).count == 64)
            #expect((1..<60).contains(refused), "\(refused)")
            let correlated =
                #"by itself.","data":{"kind":"invalidParameter","retryable":false,"correlationId":"#
            #expect(line.ranges(of: correlated).count == refused)
            #expect(try await client.call(GetBrokerStatus.self, Empty()).protocol == 1)
        }
    }

    @Test("a watch that finds no place after its batch was answered ends with an error that has a correlation id")
    func watchesOfBatch() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await client.call(WatchToken.self, .of("mail"))
            let one = #"{"jsonrpc":"2.0","id":1,"method":"token.watch","params":{"app":"mail","scopes":["read"]}}"#
            let all = Array(repeating: one, count: WatchPlaces.maximumEach)
            #expect(try await client.ask("[\(all.joined(separator: ","))]")?.contains("error") == false)
            let ended = try await client.readJSON()
            let error = try RPCError(reading: try #require(ended["params"]?["error"]))
            #expect(error.data?.reason == .tooManySubscriptions)
            #expect(error.data?.correlationID?.isEmpty == false)
        }
    }

    @Test("a client sends nothing more while a batch waits that has large answers already")
    func heldAnswers() async throws {
        try await ServerBed.runSignedIn { server in
            server.provider.refreshGate.close()
            let client = try await server.connect()
            let slow =
                #"{"jsonrpc":"2.0","id":"slow","method":"token.acquireSilent","params":{"app":"mail","scopes":["read"],"forceRefresh":true}}"#
            let many = batch(Array(repeating: "rpc.discover", count: 12)).dropLast()
            try await client.sendLine("\(many),\(slow)]")
            try await server.provider.refreshGate.waitForCallers()
            try await client.sendLine(#"{"jsonrpc":"2.0","id":1,"method":"broker.status"}"#)
            // By then the broker has read what it wants to read.
            _ = try await server.connect().call(ListApps.self, Empty())
            server.provider.refreshGate.open()
            #expect(try await client.readLine()?.hasPrefix("[") == true)
            #expect(try await client.readLine()?.hasPrefix(#"{"jsonrpc":"2.0","id":1,"result""#) == true)
        }
    }

    @Test("the requests of a batch share one look at the caller")
    func looks() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            _ = try await client.call(ListApps.self, Empty())
            let before = server.inspector.looks.count
            try await client.sendLine(batch(Array(repeating: "grants.list", count: 8)))
            guard case .array(let answers) = try await client.readJSON() else {
                Issue.record("not an array")
                return
            }
            #expect(answers.allSatisfy { $0["result"] != nil })
            #expect(server.inspector.looks.count == before + 1)
        }
    }

    @Test("a batch of notifications only, and a failing notification, are not answered")
    func silentBatch() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            try await client.sendLine(
                #"[{"jsonrpc":"2.0","method":"broker.status"},{"jsonrpc":"2.0","method":"none"}]"#)
            try await client.sendLine(#"{"jsonrpc":"2.0","method":"apps.remove","params":{"name":7}}"#)
            try await client.sendLine(#"{"jsonrpc":"2.0","method":"accounts.list"}"#)
            #expect(try await client.call(GetBrokerStatus.self, Empty()).protocol == 1)
        }
    }

    @Test("a notification takes effect")
    func notificationWorks() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            try await client.sendLine(
                #"{"jsonrpc":"2.0","method":"apps.register","params":{"name":"mail","clientId":"c","authority":"https://a.example"}}"#
            )
            try await eventually("the app is registered") {
                try await server.connect().call(ListApps.self, Empty()).apps.map(\.name) == ["mail"]
            }
        }
    }

    @Test("an app's client authentication can be each of two methods, and another is refused")
    func secretMethod() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            for method in [nil, ClientSecretMethod.post, .basic] {
                var params = RegisterApp.Params(name: "mail", clientId: "c", authority: "https://a.example")
                params.clientSecret = "s"
                params.tokenEndpointAuthMethod = method
                #expect(try await client.call(RegisterApp.self, params).app.tokenEndpointAuthMethod == method)
                #expect(try await client.call(ListApps.self, Empty()).apps.map(\.tokenEndpointAuthMethod) == [method])
            }
            var edit = RegisterApp.Params(name: "mail", clientId: "c", authority: "https://a.example")
            edit.keepClientSecret = true
            #expect(try await client.call(RegisterApp.self, edit).app.tokenEndpointAuthMethod == .basic)
            edit.tokenEndpointAuthMethod = .post
            #expect(try await client.call(RegisterApp.self, edit).app.tokenEndpointAuthMethod == .post)
            let refused = try await client.refusal(
                #"{"jsonrpc":"2.0","id":1,"method":"apps.register","params":{"name":"mail","clientId":"c","#
                    + #""authority":"https://a.example","tokenEndpointAuthMethod":"private_key_jwt"}}"#)
            #expect(refused.code == -32602)
            #expect(refused.data?.field == "tokenEndpointAuthMethod")
        }
    }

    @Test("rpc.discover returns the document generated from the definitions")
    func discover() async throws {
        try await ServerBed.run { server in
            let document = try await server.connect().call(DiscoverMethods.self, Empty())
            #expect(document == OpenRPCDocument.json)
        }
    }

    @Test("status returns the broker's settings and contents")
    func status() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            server.clock.advance(bySeconds: 90)
            let others = [try await server.connect(), try await server.connect()]
            _ = try await others[0].call(ListApps.self, Empty())
            _ = try await others[1].call(ListApps.self, Empty())
            let status = try await server.connect().call(GetBrokerStatus.self, Empty())
            #expect(status.version == "1.2.3")
            #expect(status.uptime == 90)
            #expect(status.mode == .user)
            #expect(!status.locked)
            #expect(status.vault.records == 1)
            #expect(status.vault.path.hasPrefix(server.path.replacing("broker.sock", with: "state")))
            #expect(status.vault.keySource.isEmpty == false)
            #expect(status.connections >= 3)
            #expect(status.refreshesInFlight == 0)
            await others[0].close()
        }
    }
}
