import BrokerSocket
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
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { splitter.append($0) }
            while case .message(let line) = splitter.next() { found.append(String(decoding: line, as: UTF8.self)) }
        }
        #expect(found == lines)
        #expect(!splitter.holdsPart)
    }

    @Test("a line of the limit's length passes, one byte more does not, newline or not")
    func limit() {
        for (text, expected) in [
            ("12345\n", MessageStep.message(Array("12345".utf8)[...])), ("12345", .needsMore),
            ("123456\n", .tooLong), ("123456", .tooLong),
        ] {
            var splitter = LineSplitter(limit: 5)
            splitter.append(text)
            #expect(splitter.next() == expected, "\(text)")
        }
    }

    @Test("a line that is kept is not changed by what comes after it")
    func keptLine() {
        var splitter = LineSplitter(limit: 100)
        splitter.append("kept\nhal")
        guard case .message(let kept) = splitter.next() else {
            Issue.record("the first line did not come")
            return
        }
        #expect(splitter.next() == .needsMore)
        #expect(splitter.holdsPart)
        splitter.append("f\nXXXXXXXXXXXX")
        #expect(splitter.next() == .message(Array("half".utf8)[...]))
        #expect(String(decoding: kept, as: UTF8.self) == "kept")
    }
}

extension LineSplitter {
    fileprivate mutating func append(_ text: String) { Array(text.utf8).withUnsafeBytes { append($0) } }
}
