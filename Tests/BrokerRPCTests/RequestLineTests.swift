import BrokerRPC
import BrokerValues
import Testing

extension RequestLine {
    /// The only request on the line.
    var item: Item? { if case .single(let item) = self { item } else { nil } }
    var call: Call? { if case .call(let call)? = item { call } else { nil } }
    /// The error that answers the line as a whole.
    var refusal: RPCError? { if case .refused(let error) = self { error } else { nil } }
}

@Suite("The envelope of requests")
struct RequestLineTests {
    private func read(_ text: String) -> RequestLine {
        Array(text.utf8).withUnsafeBytes { RequestLine($0) }
    }

    private func error(_ item: RequestLine.Item) -> (id: String?, code: Int64)? {
        guard case .invalid(let id, let error) = item else { return nil }
        return (id?.json, error.code)
    }

    @Test(
        "an id is returned exactly as it was sent",
        arguments: [
            "1", "0", "-7", "1.0", "1.50", "1e2", "123456789012345678901234567890", "-0", #""abc""#, #""""#,
            #""\u0041\/""#, #""é😀""#, #""1""#,
        ])
    func echoesID(id: String) throws {
        for text in [
            #"{"jsonrpc":"2.0","id":\#(id),"method":"a.b"}"#, #" {"method":"a.b", "id" :  \#(id)  ,"jsonrpc":"2.0"} "#,
        ] {
            let call = try #require(read(text).call, "\(text)")
            #expect(call.id?.json == id)
            var writer = JSONWriter()
            writer.answer(Empty(), to: try #require(call.id))
            #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#)
        }
    }

    @Test("a request without an id is a notification")
    func notification() throws {
        let call = try #require(read(#"{"jsonrpc":"2.0","method":"x"}"#).call)
        #expect(call.id == nil)
    }

    @Test(
        "an invalid request is -32600, with its id if that could be read",
        arguments: [
            ("1", nil), ("\"x\"", nil), ("null", nil), ("{}", nil), (#"{"jsonrpc":"2.0"}"#, nil),
            (#"{"jsonrpc":"2.0","id":1}"#, "1"), (#"{"jsonrpc":"2.0","id":1,"method":2}"#, "1"),
            (#"{"id":"a","method":"x"}"#, "\"a\""), (#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, "1"),
            (#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, "1"), (#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, nil),
            (#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, nil), (#"{"jsonrpc":"2.0","id":[1],"method":"x"}"#, nil),
            (#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, nil),
            (#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#, "1"),
            (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "1"),
        ] as [(String, String?)])
    func invalid(text: String, id: String?) throws {
        let found = try #require(read(text).item.flatMap(error))
        #expect(found.code == -32600)
        #expect(found.id == id)
    }

    @Test("an empty batch and one that is too long are refused as a whole")
    func batchBounds() {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"x"}"#
        let tooMany = Array(repeating: call, count: RequestLine.maximumBatch + 1).joined(separator: ",")
        for text in ["[]", " [ ] ", "[\(tooMany)]"] {
            #expect(read(text).refusal?.code == -32600, "\(text.prefix(80))")
        }
    }

    @Test("a batch keeps its valid requests next to invalid ones")
    func batch() throws {
        let text = #"[{"jsonrpc":"2.0","id":1,"method":"x"}, 1, {"jsonrpc":"2.0","method":"y"}, [], {"id":2}]"#
        guard case .batch(let items) = read(text) else {
            Issue.record("not a batch")
            return
        }
        #expect(items.count == 5)
        #expect(items.map { error($0)?.code } == [nil, -32600, nil, -32600, -32600])
        #expect(error(items[4])?.id == "2")
    }

    @Test("invalid JSON is -32700, alone or within a batch", arguments: ["{", "[{]", "", "[1,", "{\"a\":\\q}"])
    func malformed(text: String) {
        let error = read(text).refusal
        #expect(error?.code == -32700)
        #expect(error?.data?.kind == .invalidParameter)
    }
}
