import BrokerModel
import BrokerOIDCAgent
import BrokerValues
import Testing

@Suite("Exchanges with oidc-agent clients")
struct AgentExchangeTests {
    static let check = #"{"request":"check"}"#

    @Test(
        "a request in plain JSON is answered in plain JSON, in whatever pieces it arrives", arguments: [1, 2, 7, 1_000])
    func plain(size: Int) throws {
        let request = #" {"request":"id_token","account":"a}]\"{","more":[{"x":"\\"}]}"#
        var exchange = AgentExchange()
        let steps = exchange.receive(Array(request.utf8), inPiecesOf: size)
        #expect(steps.map(\.request) == [.token(AgentTokenRequest(.id, .account("a}]\"{")))])
        #expect(Self.answer(to: exchange) == Array(#"{"status":"success","info":"yes"}"#.utf8))
    }

    @Test("after a key exchange the request and its answer are sealed", arguments: [1, 2, 4, 43, 44, 1_000])
    func sealed(size: Int) throws {
        var (client, exchange) = (OtherSide(), AgentExchange())
        let keys = exchange.receive(client.key, inPiecesOf: size)
        #expect(client.agree(on: try #require(keys.first?.written)))
        for name in ["acc", "é🜁\u{1}", String(repeating: "long", count: 300)] {
            var copy = exchange
            let request = #"{"request":"access_token","account":\#(Self.text(name))}"#
            let steps = copy.receive(client.seal(request), inPiecesOf: size)
            #expect(steps.map(\.request) == [.token(AgentTokenRequest(.access, .account(name)))])
            #expect(client.open(Self.answer(to: copy)) == #"{"status":"success","info":"yes"}"#)
        }
    }

    @Test("the stated length of a message is ignored", arguments: [0, 1, 17, 18, 20, 40, 4_000, 9_999_999])
    func length(that lies: Int) throws {
        for size in [3, 1_000] {
            var (client, exchange) = (OtherSide(), AgentExchange())
            let key = exchange.receive(client.key).first?.written
            #expect(client.agree(on: try #require(key)))
            // Python counts characters.
            let request = #"{"request":"access_token","account":"🜁🜁🜁🜁🜁🜁🜁🜁🜁"}"#
            let steps = exchange.receive(client.seal(request, saying: lies), inPiecesOf: size)
            #expect(steps.count == 1 && steps.first?.request != nil, "said \(lies), in pieces of \(size)")
        }
    }

    @Test(
        "blanks before a message count towards its size and its time, however they arrive", arguments: [1_000, 70_000])
    func endlessBlanks(size: Int) throws {
        var exchange = AgentExchange()
        #expect(!exchange.isUnderWay)
        #expect(exchange.receive(" ").isEmpty && exchange.isUnderWay)
        let steps = exchange.receive([UInt8](repeating: 0x20, count: AgentExchange.limit + 1), inPiecesOf: size)
        guard steps.count == 1, case .refuse(.tooLong) = steps[0] else {
            Issue.record("\(steps.count) steps")
            return
        }
        #expect(exchange.isOver && exchange.receive("{}").isEmpty)
    }

    @Test("a line's end and a C string's end are ignored")
    func blanks() throws {
        var (client, exchange) = (OtherSide(), AgentExchange())
        let key = exchange.receive("\r\n" + String(decoding: client.key, as: UTF8.self) + "\n").first?.written
        #expect(client.agree(on: try #require(key)))
        let steps = exchange.receive([10] + client.seal(Self.check) + [10, 0])
        #expect(steps.map(\.request) == [.check])
    }

    @Test("an exchange has one request, and bytes after it are dropped")
    func second() {
        var exchange = AgentExchange()
        let steps = exchange.receive(Self.check + #"{"request":"status"}"#)
        #expect(steps.map(\.request) == [.check])
        #expect(exchange.isOver && exchange.count == 0)
        #expect(exchange.receive(#"{"request":"status"}"#).isEmpty)
        #expect(exchange.count == 0 && !exchange.isUnderWay)
    }

    @Test("an exchange that stops in the middle is under way until it is ended")
    func stops() {
        #expect(!AgentExchange().isUnderWay)
        for part in ["{\"request\"", "AAAA", String(decoding: OtherSide().key, as: UTF8.self)] {
            var exchange = AgentExchange()
            _ = exchange.receive(part)
            #expect(exchange.isUnderWay)
            exchange.finish()
            #expect(exchange.isOver && !exchange.isUnderWay && exchange.count == 0)
        }
    }

    @Test("an exchange with too many bytes ends, and keeps no more than the limit")
    func tooLong() throws {
        let piece = [UInt8](repeating: UInt8(ascii: "A"), count: 1 << 20)
        var (client, keyed) = (OtherSide(), AgentExchange())
        #expect(client.agree(on: try #require(keyed.receive(client.key).first?.written)))
        for (exchange, start) in [
            (AgentExchange(), #"{"request":""#), (keyed, "9:\(String(repeating: "A", count: 32)):"),
        ] {
            var exchange = exchange
            #expect(exchange.receive(start).isEmpty)
            var refusals: [AgentRefusal?] = []
            for _ in 0..<16 {
                refusals += exchange.receive(piece).map(\.refusal)
                #expect(exchange.count <= AgentExchange.limit)
            }
            #expect(refusals == [.tooLong(limit: AgentExchange.limit)])
        }
        var nearly = AgentExchange()
        let rest = String(repeating: "x", count: AgentExchange.limit - Self.check.utf8.count - 7)
        #expect(nearly.receive(#"{"x":"\#(rest)","request":"check"}"#).map(\.request) == [.check])
    }

    @Test(
        "a message that is not a request is refused",
        arguments: [
            ("GET / HTTP/1.1", AgentRefusal.neitherKeyNorObject), ("[]", .neitherKeyNorObject),
            ("\u{16}\u{3}\u{1}", .neitherKeyNorObject), ("é", .neitherKeyNorObject),
            (String(repeating: "A", count: 44), .badKey), (String(repeating: "=", count: 44), .badKey),
            (#"{"a":]"#, .malformed(.unexpectedByte)),
        ])
    func none(text: String, refusal: AgentRefusal) {
        var exchange = AgentExchange()
        #expect(exchange.receive(text).map(\.refusal) == [refusal])
        #expect(exchange.isOver)
    }

    @Test("a key that yields no secret is refused at the request")
    func zero() {
        var exchange = AgentExchange()
        let key = exchange.receive(String(repeating: "A", count: 43) + "=").first?.written
        #expect(key?.count == 44)
        #expect(exchange.receive("1").map(\.refusal) == [.badKey])
    }

    @Test("each connection has keys of its own")
    func ownKeys() throws {
        var keys: Set<[UInt8]> = []
        for _ in 0..<3 {
            var (client, exchange) = (OtherSide(), AgentExchange())
            let key = try #require(exchange.receive(client.key).first?.written)
            keys.insert(key)
            let agrees = client.agree(on: key)
            #expect(agrees)
            #expect(exchange.receive(client.seal(Self.check)).map(\.request) == [.check])
        }
        #expect(keys.count == 3)
    }

    @Test("after a key exchange, a message that is no box or another's box is refused")
    func badFrames() throws {
        var (client, keyed) = (OtherSide(), AgentExchange())
        #expect(client.agree(on: try #require(keyed.receive(client.key).first?.written)))
        let nonce = String(repeating: "A", count: 32)
        for text in [
            Self.check, ":", "1a", "123456789", "12:", "12::", "5:\(nonce)AA", "5:AAAA:AAAA", "5:\(nonce):!!",
            "5:\(nonce):AAA ", "5:\(nonce):A=AA",
        ] {
            var exchange = keyed
            let steps = exchange.receive(text)
            let isUnfinished = text == "12:"
            #expect(steps.map(\.refusal) == (isUnfinished ? [] : [.badFrame]), "\(text)")
        }
        var (stranger, other) = (OtherSide(), AgentExchange())
        #expect(stranger.agree(on: try #require(other.receive(stranger.key).first?.written)))
        // 17 bytes of text and 16 of the seal: the padding shows that the box is complete.
        var broken = keyed
        #expect(broken.receive(stranger.seal("0123456789abcdef0")).isEmpty)
        var padded = keyed
        #expect(padded.receive(stranger.seal("0123456789abcdef")).map(\.refusal) == [.sealBroken])
        var twice = keyed
        #expect(twice.receive(client.seal(#"{"request":"no"}"#)).map(\.refusal) == [.unknownRequest("no")])
        // A client whose box opened is answered under the same seal.
        #expect(client.open(Self.answer(to: twice)) != nil)
    }

    @Test("a box that arrives byte by byte and never opens has a bounded cost")
    func trickle() throws {
        var (client, exchange) = (OtherSide(), AgentExchange())
        #expect(client.agree(on: try #require(exchange.receive(client.key).first?.written)))
        let frame = Array("1:\(String(repeating: "A", count: 32)):".utf8)
        let box = [UInt8](repeating: UInt8(ascii: "B"), count: 2 * AgentExchange.limit)
        let steps = exchange.receive(frame + box, inPiecesOf: 1)
        #expect(steps.map(\.refusal) == [.sealBroken])
    }

    /// - Returns: the bytes sent as the answer.
    static func answer(to exchange: AgentExchange) -> [UInt8] {
        var writer = JSONWriter()
        AgentReply.done("yes", to: &writer)
        defer { #expect(writer.bytes.isEmpty) }
        return exchange.answer(&writer)
    }

    static func text(_ name: String) -> String {
        var writer = JSONWriter()
        writer.string(name)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
