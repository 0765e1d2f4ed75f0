import BrokerValues
import Testing

@Suite("Text that is compared byte by byte")
struct ExactTextTests {
    @Test(
        "what only looks the same is another text",
        arguments: [
            ("K", "\u{212A}"), ("\u{e9}", "e\u{301}"), (";", "\u{37E}"), ("`", "\u{1FEF}"), ("a", "a\u{0}"),
            ("", "\u{0}"),
        ])
    func different(one: String, other: String) {
        #expect(ExactText(one) != ExactText(other))
        #expect(Set([ExactText(one), ExactText(other)]).count == 2)
        #expect(JSONValue.string(one).exactText != JSONValue.string(other).exactText)
    }

    @Test("the same bytes are the same text")
    func same() {
        #expect(ExactText("e\u{301}") == ExactText("e" + "\u{301}"))
        #expect(Set([ExactText("sub"), "sub"]).count == 1)
        #expect(JSONValue.integer(5).exactText == nil)
    }
}
