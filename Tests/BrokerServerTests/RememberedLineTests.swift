import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

/// Which lines ask for the same: the same bytes with another number for an id, and nothing else.
@Suite("A line that is another only by its id")
struct RememberedLineTests {
    /// Asks for a cached token.
    private static func line(id: String, _ params: String = #""app":"mail","scopes":["read"]"#) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"token.acquireSilent","params":{\#(params)}}"#
    }

    private func answer(_ line: String, on client: LineClient) async throws -> JSONNode {
        try await client.sendLine(line)
        return try await client.readJSON()
    }

    /// The answer to a line on a connection that remembers one, whether it was given again, and what a new connection answers.
    private func compare(
        _ line: String, after first: String = RememberedLineTests.line(id: "1"), on server: ServerBed
    ) async throws -> (id: JSONValue?, isAgain: Bool) {
        let client = try await server.connect()
        _ = try await answer(first, on: client)
        let repeats = server.repeats.count
        let answer = try await answer(line, on: client)
        let isAgain = server.repeats.count > repeats
        let other = try await self.answer(line, on: server.connect())
        #expect(PlainAnswer(answer) == PlainAnswer(other), "\(line)")
        #expect(answer["id"]?.value == other["id"]?.value, "\(line)")
        return (answer["id"]?.value, isAgain)
    }

    @Test("whole numbers come back as they were sent, of whatever length")
    func numbers() async throws {
        try await ServerBed.runSignedIn { (server) async throws in
            for id in ["1", "0", "2", "10", "4711", "999999999999999"] {
                for first in ["1", "123456789012345"] {
                    let (came, isAgain) = try await compare(
                        Self.line(id: id), after: Self.line(id: first), on: server)
                    #expect(isAgain && came == Int64(id).map(JSONValue.integer))
                }
            }
        }
    }

    @Test("other ids are read, and come back or are refused as ever, also after a line with such an id")
    func otherIDs() async throws {
        try await ServerBed.runSignedIn { (server) async throws in
            for id in [
                "-1", "-0", "1.0", "1e2", "1E2", "1234567890123456", "123456789012345678901234567890", #""1""#,
                #""\u0031""#, "01", "00", "+1", "1 2", "0x1", "null", "true", "[1]", "{}", "1,\"id\":2", "", "١",
            ] {
                #expect(try await !compare(Self.line(id: id), on: server).isAgain, "\(id)")
                #expect(try await !compare(Self.line(id: "1"), after: Self.line(id: id), on: server).isAgain, "\(id)")
            }
        }
    }

    @Test("however a client writes its lines, it is its own way that counts")
    func writing() async throws {
        try await ServerBed.runSignedIn { (server) async throws in
            func lines(_ id: String) -> [String] {
                [
                    " \t{ \"jsonrpc\" : \"2.0\" , \"id\" :  \(id)  , \"method\" : \"token.acquireSilent\" , \"params\" : {\"app\":\"mail\",\"scopes\":[\"read\"]} } \r",
                    #"{"method":"token.acquireSilent","params":{"app":"mail","scopes":["read"]},"jsonrpc":"2.0","id":\#(id)}"#,
                    #"{"\u0069\u0064":\#(id),"jsonrpc":"2.0","method":"token.acquireSilent","params":{"app":"m\u0061il","scopes":["read"]}}"#,
                    #"{"jsonrpc":"2.0","other":{"id":8},"id":\#(id),"ids":[1,1],"method":"token.acquireSilent","params":{"app":"mail","scopes":["read"]}}"#,
                ]
            }
            for (first, second) in zip(lines("1"), lines("200")) {
                let (id, isAgain) = try await compare(second, after: first, on: server)
                #expect(isAgain && id == .integer(200), "\(first)")
                #expect(try await !compare(Self.line(id: "200"), after: first, on: server).isAgain)
            }
        }
    }

    @Test("what is another line is read as one")
    func otherLines() async throws {
        try await ServerBed.runSignedIn { (server) async throws in
            for line in [
                Self.line(id: "2") + " ", Self.line(id: " 2"), Self.line(id: "2", #""app":"mail","scopes":["write"]"#),
                Self.line(id: "2", #""app":"nail","scopes":["read"]"#),
                Self.line(id: "2", #""id":2,"app":"mail","scopes":["read"]"#), "[" + Self.line(id: "2") + "]",
                Self.line(id: "2") + "2", String(Self.line(id: "2").dropLast()),
            ] {
                #expect(try await !compare(line, on: server).isAgain, "\(line)")
            }
        }
    }

    @Test(
        "one that is read anew each time: with a name of its own, or in a batch, or long",
        arguments: [
            RememberedLineTests.line(id: "1", #""app":"mail","scopes":["read"],"correlationId":"mine""#),
            "[" + RememberedLineTests.line(id: "1") + "]",
            RememberedLineTests.line(id: "1") + String(repeating: " ", count: LinePattern.longest),
        ])
    func neverAgain(line: String) async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            for _ in 1...3 {
                try await client.sendLine(line)
                #expect(try await client.readLine()?.contains("at-1") == true)
            }
            #expect(server.repeats.count == 0)
        }
    }

    @Test("a notification gets no answer, before and after")
    func notification() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let notification = Self.line(id: "1").replacing(#""id":1,"#, with: "")
            for id in 1...3 {
                try await client.sendLine(notification)
                #expect(try await answer(Self.line(id: "\(id)"), on: client)["id"]?.value == .integer(Int64(id)))
            }
        }
    }

    @Test("bytes that are no text are refused, wherever they stand")
    func notUTF8() async throws {
        try await ServerBed.runSignedIn { server in
            for place in 0..<Self.line(id: "2").utf8.count {
                let client = try await server.connect()
                for id in ["1", "2"] { _ = try await answer(Self.line(id: id), on: client) }
                var bytes = Array(Self.line(id: "3").utf8)
                bytes[place] = 0xff
                let repeats = server.repeats.count
                try await client.send(bytes + [UInt8(ascii: "\n")])
                #expect(try await client.readJSON()["error"] != nil)
                #expect(server.repeats.count == repeats)
            }
        }
    }

    @Test("many lines in one packet are answered in their order")
    func pipelined() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            try await client.send((1...200).map { Self.line(id: "\($0)") + "\n" }.joined())
            let ids = try await client.readLines(200).map { try JSONReader.read($0.utf8)["id"]?.value.integerValue }
            #expect(ids == (1...200).map(Int64.init))
            #expect(server.repeats.count == 199)
        }
    }

    @Test("the last line counts, of this connection")
    func lastOnly() async throws {
        try await ServerBed.runSignedIn { server in
            let (client, other) = (try await server.connect(), try await server.connect())
            let another = Self.line(id: "1", #""scopes":["read"],"app":"mail""#)
            for line in [Self.line(id: "1"), another, Self.line(id: "2"), another] {
                #expect(try await answer(line, on: client)["result"] != nil)
            }
            #expect(try await answer(another, on: other)["result"] != nil)
            #expect(server.repeats.count == 0)
            // What is no answer from memory changes nothing.
            _ = try await client.call(ListApps.self, .init())
            #expect(try await answer(another, on: client)["result"] != nil)
            #expect(server.repeats.count == 1)
        }
    }
}
