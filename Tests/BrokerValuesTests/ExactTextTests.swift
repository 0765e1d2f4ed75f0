import BrokerValues
import Testing

@Suite("Text that is compared byte by byte")
struct ExactTextTests {
    @Test(
        "canonically equivalent texts are different",
        arguments: [
            ("K", "\u{212A}"), ("\u{e9}", "e\u{301}"), (";", "\u{37E}"), ("`", "\u{1FEF}"), ("a", "a\u{0}"),
            ("", "\u{0}"),
        ])
    func different(one: String, other: String) {
        #expect(ExactText(one) != ExactText(other))
        #expect(Set([ExactText(one), ExactText(other)]).count == 2)
        #expect(JSONValue.string(one).exactText != JSONValue.string(other).exactText)
        #expect(!one.isExactly(other) && one.isExactly(String(one)))
    }

    @Test(
        "a member is not found under a canonically equivalent name",
        arguments: ["K\u{212A}", ";\u{37E}", "`\u{1FEF}"])
    func memberNames(pair: String) throws {
        let (name, other) = (String(pair.unicodeScalars.prefix(1)), String(pair.unicodeScalars.suffix(1)))
        let alone = try #require(JSONObject(json: #"{"a\#(other)":1,"\u00e9":2}"#.utf8))
        #expect(alone["a\(name)"] == nil && alone["\u{e9}"] == 2)
        let both = try #require(JSONObject(json: #"{"a\#(name)":1,"a\#(other)":2}"#.utf8))
        #expect(both["a\(name)"] == 1)
        let node = try JSONReader.read(#"{"a\#(name)":1,"a\#(other)":[]}"#.utf8)
        guard case .number? = node["a\(name)"] else { throw NoNumber() }
    }

    private struct NoNumber: Error {}

    @Test("texts with the same bytes are equal")
    func same() {
        #expect(ExactText("e\u{301}") == ExactText("e" + "\u{301}"))
        #expect(Set([ExactText("sub"), "sub"]).count == 1)
        #expect(JSONValue.integer(5).exactText == nil)
    }
}
