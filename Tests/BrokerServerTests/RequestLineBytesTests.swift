import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

/// Each line is parsed by itself, in any valid form of JSON.
@Suite("Bytes of request lines")
struct RequestLineBytesTests {
    /// A request for a cached token.
    private static func line(id: String, _ params: String = #""app":"mail","scopes":["read"]"#) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"token.acquireSilent","params":{\#(params)}}"#
    }

    private func answer(_ line: String, on client: LineClient) async throws -> JSONNode {
        try await client.sendLine(line)
        return try await client.readJSON()
    }

    @Test("ids of whole numbers come back as they were sent, whatever their length")
    func numbers() async throws {
        try await ServerBed.runSignedIn { (server) async throws in
            let client = try await server.connect()
            for id in ["1", "0", "2", "10", "4711", "999999999999999"] {
                #expect(
                    try await answer(Self.line(id: id), on: client)["id"]?.value == Int64(id).map(JSONValue.integer))
            }
        }
    }

    @Test("spaces, the order of members, escapes and unknown members make no difference")
    func writing() async throws {
        try await ServerBed.runSignedIn { (server) async throws in
            let client = try await server.connect()
            for line in [
                " \t{ \"jsonrpc\" : \"2.0\" , \"id\" :  200  , \"method\" : \"token.acquireSilent\" , \"params\" : {\"app\":\"mail\",\"scopes\":[\"read\"]} } \r",
                #"{"method":"token.acquireSilent","params":{"app":"mail","scopes":["read"]},"jsonrpc":"2.0","id":200}"#,
                #"{"\u0069\u0064":200,"jsonrpc":"2.0","method":"token.acquireSilent","params":{"app":"m\u0061il","scopes":["read"]}}"#,
                #"{"jsonrpc":"2.0","other":{"id":8},"id":200,"ids":[1,1],"method":"token.acquireSilent","params":{"app":"mail","scopes":["read"]}}"#,
            ] {
                let answer = try await answer(line, on: client)
                #expect(answer["id"]?.value == .integer(200), "\(line)")
                #expect(PlainAnswer(answer).token == "at-1", "\(line)")
            }
        }
    }

    @Test("a notification gets no answer, and the requests around it do")
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

    @Test("bytes that are not UTF-8 are refused, wherever they are")
    func notUTF8() async throws {
        try await ServerBed.runSignedIn { server in
            for place in 0..<Self.line(id: "2").utf8.count {
                let client = try await server.connect()
                _ = try await answer(Self.line(id: "1"), on: client)
                var bytes = Array(Self.line(id: "3").utf8)
                bytes[place] = 0xff
                try await client.send(bytes + [UInt8(ascii: "\n")])
                #expect(try await client.readJSON()["error"] != nil)
            }
        }
    }

    @Test("many lines in one packet are answered in order")
    func pipelined() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            try await client.send((1...200).map { Self.line(id: "\($0)") + "\n" }.joined())
            let ids = try await client.readLines(200).map { try JSONReader.read($0.utf8)["id"]?.value.integerValue }
            #expect(ids == (1...200).map(Int64.init))
        }
    }
}
