import BrokerRPC
import BrokerValues
import Testing

@Suite("A request's line but for its id")
struct LinePatternTests {
    private func line(_ id: String) -> [UInt8] { Array(#"{"id":\#(id),"method":"a.b","jsonrpc":"2.0"}"#.utf8) }

    private func pattern(_ line: [UInt8]) throws -> LinePattern? {
        let read = line.withUnsafeBytes { RequestLine($0) }
        guard case .single(.call(let call)) = read else {
            Issue.record("not a call")
            return nil
        }
        return LinePattern(line[...], id: try #require(call.idRange))
    }

    @Test("finds the id of a line with another number, longer or shorter, wherever the line lies in memory")
    func otherNumber() throws {
        for first in ["0", "7", "123456789012345"] {
            let pattern = try #require(try pattern(line(first)))
            for id in ["0", "9", "10", "999999999999999"] {
                #expect(pattern.id(in: line(id)[...])?.json == id)
                let packet = Array("before\n".utf8) + line(id) + Array("\nafter".utf8)
                #expect(pattern.id(in: packet[7..<7 + line(id).count])?.json == id)
            }
        }
    }

    @Test("is made of no other ids than whole numbers that come back as they were sent")
    func noPattern() throws {
        for id in ["-1", "-0", "1.0", "1e2", "1234567890123456", #""1""#, #""""#] {
            #expect(try pattern(line(id)) == nil, "\(id)")
        }
    }

    @Test(
        "finds none in what is not such a number",
        arguments: ["", "-1", "01", "00", "1.0", "1e2", " 1", "1 ", "1,1", "1234567890123456", #""1""#, "x", "\u{661}"])
    func noNumber(id: String) throws {
        #expect(try #require(try pattern(line("1"))).id(in: line(id)[...]) == nil)
        #expect(try #require(try pattern(line("123456789012345"))).id(in: line(id)[...]) == nil)
    }

    @Test("finds none in a line with any other byte, or fewer, or more")
    func otherBytes() throws {
        let known = line("17")
        let pattern = try #require(try pattern(known))
        for place in known.indices where !(6..<8).contains(place) {
            var other = known
            other[place] ^= 0x20
            #expect(pattern.id(in: other[...]) == nil, "byte \(place)")
            other.remove(at: place)
            #expect(pattern.id(in: other[...]) == nil, "without byte \(place)")
        }
        for count in 0..<known.count { #expect(pattern.id(in: known[..<count]) == nil) }
        for byte in ["0", " ", "}", "\0"] { #expect(pattern.id(in: (known + Array(byte.utf8))[...]) == nil) }
    }

    @Test("is of a line of a thousand bytes at most")
    func longest() throws {
        for (count, isKept) in [(LinePattern.longest, true), (LinePattern.longest + 1, false)] {
            let padding = [UInt8](repeating: UInt8(ascii: " "), count: count - line("1").count)
            #expect((try pattern(line("1") + padding) != nil) == isKept)
        }
    }
}
