import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// Input at the socket that no correct client sends.
@Suite("Malformed input at the socket") struct WireTests {
    let status = #"{"jsonrpc":"2.0","id":1,"method":"broker.status"}"#
    let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"broker.subscribe","params":{"topics":["account"]}}"#

    private func read(_ line: String?) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(#require(line).utf8))
    }

    @Test(
        "an invalid request is answered according to JSON-RPC, and the connection stays usable",
        arguments: [
            ("{", -32700, nil), ("nonsense", -32700, nil),
            (#"{"jsonrpc":"2.0","id":7,"method":"broker.st"#, -32700, nil),
            ("[]", -32600, nil), ("1", -32600, nil), (#"{"id":7,"method":"broker.status"}"#, -32600, 7),
            (#"{"jsonrpc":"2.0","id":7}"#, -32600, 7), (#"{"jsonrpc":"2.0","id":7,"method":"no.such"}"#, -32601, 7),
            (#"{"jsonrpc":"2.0","id":7,"method":"accounts.list","params":[1]}"#, -32602, 7),
            (#"{"jsonrpc":"2.0","id":7,"method":"broker.status","params":{"colour":"red"}}"#, -32602, 7),
            (#"{"jsonrpc":"2.0","id":7,"method":"apps.remove","params":{"name":5}}"#, -32602, 7),
        ] as [(String, Int64, JSONValue?)])
    func malformed(text: String, code: Int64, id: JSONValue?) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let client = try await broker.connectRaw()
            let answer = try read(try await client.ask(text))
            #expect(answer["error.code"] == .integer(code), "\(answer)")
            #expect(answer["id"] == id ?? .null)
            if code == -32602, text.contains("colour") {
                #expect(answer["error.message"].stringValue?.contains("colour") == true)
            }
            #expect(try read(try await client.ask(status))["result.protocol"] == 1)
        }
    }

    @Test("a line above 1 MiB is answered once with a parse error, and the connection is closed")
    func oversized() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let client = try await broker.connectRaw()
            // The broker may close before it has read all of this.
            try? await client.send([UInt8](repeating: UInt8(ascii: "x"), count: (1 << 20) + 4096))
            let answer = try read(try await client.readLine())
            #expect(answer["error.code"] == -32700)
            #expect(answer["id"] == .null)
            #expect(try await client.readLine() == nil)
            #expect(try await broker.call("broker.status")[path: "mode"] == "user")
        }
    }

    @Test("ids are returned as sent, also if two requests have the same one")
    func ids() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let client = try await broker.connectRaw()
            for id in ["1", "-7", #""one""#, #""""#, "12345678901234567890123", "1.50"] {
                let answer = try #require(
                    try await client.ask(#"{"jsonrpc":"2.0","id":\#(id),"method":"accounts.list"}"#))
                #expect(answer.contains(#""id":\#(id)"#), "\(answer)")
            }
            try await client.sendLine(status)
            try await client.sendLine(status)
            for line in try await client.readLines(2) { #expect(try read(line)["id"] == 1) }
        }
    }

    @Test("a batch is answered as one array without its notifications, and one of notifications not at all")
    func batch() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let client = try await broker.connectRaw()
            let notification = #"{"jsonrpc":"2.0","method":"broker.status"}"#
            let unknown = #"{"jsonrpc":"2.0","id":"b","method":"no.such"}"#
            let answer = try read(try await client.ask("[\(status),\(notification),3,\(unknown)]")).arrayValue ?? []
            #expect(answer.count == 3)
            #expect(Set(answer.map { $0["id"] }) == [1, "b", .null])
            #expect(Set(answer.map { $0["error.code"] }) == [.null, -32601, -32600])

            try await client.sendLine("[\(notification)]")
            try await client.sendLine(notification)
            #expect(try read(try await client.ask(status))["id"] == 1)
        }
    }

    @Test("requests that arrive in pieces, or many at once, are all answered")
    func interleaved() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let client = try await broker.connectRaw()
            let lines = (1...50).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"apps.list"}"# + "\n" }.joined()
            var rest = Array(lines.utf8)[...]
            while !rest.isEmpty {
                try await client.send(Array(rest.prefix(61)))
                rest = rest.dropFirst(61)
            }
            let ids = try await client.readLines(50).map { try read($0)["id"].integerValue }
            #expect(Set(ids) == Set((1...50).map { Int64($0) }))
        }
    }

    @Test("a client that stops in the middle of a line delays no other, and is disconnected in the end")
    func halfLine() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed) {
                $0.configuration = "[socket]\nidle_line_timeout = 1\n"
            }
            let staller = try await broker.connectRaw()
            try await staller.send(#"{"jsonrpc":"2.0","id":1,"met"#)
            for _ in 0..<20 { _ = try await broker.call("accounts.list") }
            // It may receive the reason, and then the connection ends.
            _ = try await staller.readToEnd()
            _ = try await broker.call("accounts.list")
        }
    }

    @Test("connections beyond the limit are refused with an answer, and accepted after others leave")
    func connectionLimit() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed) { $0.configuration = "[socket]\nmax_connections = 3\n" }
            // The connection that saw the broker start may still be counted.
            try await eventually("three connections are served and a fourth is not") {
                var clients: [LineClient] = []
                for _ in 0..<3 {
                    let client = try await broker.connectRaw()
                    clients.append(client)
                    // A listener is never idle, so it is never evicted.
                    guard try await client.ask(subscribe)?.contains("result") == true else { return false }
                }
                let turnedAway = try await broker.connectRaw()
                let answer = try read(try await turnedAway.readLine())
                #expect(answer["error.data.reason"] == "tooManyConnections")
                #expect(answer["error.data.retryable"] == true)
                #expect(answer["error.data.correlationId"] != nil)
                for client in clients { await client.close() }
                return true
            }
            try await eventually("there is room again") {
                let client = try await broker.connectRaw()
                defer { Task { await client.close() } }
                return (try? await client.ask(status))??.contains("result") == true
            }
        }
    }

    @Test("the broker describes itself, and it has every method that it names")
    func discovery() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let document = try await broker.call("rpc.discover")
            #expect(document.text("openrpc").hasPrefix("1.3"))
            let names = document[path: "methods"].arrayValue?.compactMap { $0["name"].stringValue } ?? []
            for expected in [
                "token.acquireSilent", "token.acquireInteractive", "interaction.complete", "interaction.cancel",
                "accounts.list", "accounts.get", "accounts.remove", "apps.register", "apps.list", "apps.remove",
                "broker.status",
            ] {
                #expect(names.contains(expected))
            }
            let client = try await broker.connectRaw()
            for name in names {
                let answer = try read(
                    try await client.ask(#"{"jsonrpc":"2.0","id":1,"method":"\#(name)","params":{"no such":1}}"#))
                #expect(answer["error.code"] == -32602, "\(name): \(answer)")
            }
        }
    }
}
