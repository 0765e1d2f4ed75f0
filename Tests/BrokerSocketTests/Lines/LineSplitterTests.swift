import BrokerSocket
import NIOCore
import Testing

@Suite("Lines in a stream of bytes")
struct LineSplitterTests {
    @Test("lines come out whole however the stream is cut", arguments: 1...9)
    func anyCut(size: Int) {
        let lines = ["", "a", "bb", String(repeating: "c", count: 40), "", "last"]
        let bytes = Array(lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
        var splitter = LineSplitter(limit: 40)
        var found: [String] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            splitter.append(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
            while case .line(let line) = splitter.next() { found.append(String(buffer: line)) }
        }
        #expect(found == lines)
        #expect(!splitter.holdsPartOfLine)
    }

    @Test("a line of the limit's length passes, one byte more does not, newline or not")
    func limit() {
        for (text, expected) in [
            ("12345\n", LineSplitter.Step.line(ByteBuffer(string: "12345"))), ("12345", .needsMore),
            ("123456\n", .tooLong), ("123456", .tooLong),
        ] {
            var splitter = LineSplitter(limit: 5)
            splitter.append(ByteBuffer(string: text))
            #expect(splitter.next() == expected, "\(text)")
        }
    }

    @Test("a line that is kept is not changed by what comes after it")
    func keptLine() {
        var splitter = LineSplitter(limit: 100)
        splitter.append(ByteBuffer(string: "kept\nhal"))
        guard case .line(let kept) = splitter.next() else {
            Issue.record("the first line did not come")
            return
        }
        #expect(splitter.next() == .needsMore)
        #expect(splitter.holdsPartOfLine)
        splitter.append(ByteBuffer(string: "f\nXXXXXXXXXXXX"))
        #expect(splitter.next() == .line(ByteBuffer(string: "half")))
        #expect(String(buffer: kept) == "kept")
    }
}
