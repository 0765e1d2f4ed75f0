import BrokerOAuth
import Testing

@Suite("Header fields")
struct HeaderFieldTests {
    private func field(_ line: String) -> [String]? {
        Array(line.utf8).withUnsafeBytes(HeaderField.init).map { [$0.name, $0.value] }
    }

    @Test("a name is read in lower case, a value without the spaces around it")
    func fields() {
        #expect(field("Cache-Control: max-age=60\r\n") == ["cache-control", "max-age=60"])
        #expect(field("ETag:\t \"a: b\" \r\n") == ["etag", "\"a: b\""])
        #expect(field("Empty:\r\n") == ["empty", ""])
    }

    @Test(
        "text that is not a field, and non-ASCII text, is left out",
        arguments: [
            "\r\n", "no colon\r\n", ": no name\r\n", "two words: x", "é: x", "a: \u{301}\u{327}", "a: \u{1b}[m",
        ])
    func others(line: String) {
        #expect(field(line) == nil)
    }
}
